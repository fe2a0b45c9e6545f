/** Whether modes of files mean anything where they are. */
import { statfsSync } from "node:fs";
import { release } from "node:os";

/** File systems without modes of their own, as the kernel numbers them: each file has that of the mount, often 0777. */
const WITHOUT_MODES: ReadonlySet<number> = new Set([
  0x4d44, // FAT
  0x2011bab0, // exFAT
  0x5346544e, // NTFS
  0x7366746e, // NTFS of newer kernels
  0xff534d42, // CIFS
  0xfe534d42, // SMB
]);
/** The drives of Windows in its subsystem for Linux; elsewhere what it is used for has modes. */
const PLAN_9 = 0x01021997;

/** Where it cannot be found out they do. */
export function hasModes(path: string): boolean {
  try {
    return !isWithoutModes(statfsSync(path).type, release());
  } catch {
    return true;
  }
}

export function isWithoutModes(type: number, kernel: string): boolean {
  return WITHOUT_MODES.has(type) || (type === PLAN_9 && /microsoft/i.test(kernel));
}
