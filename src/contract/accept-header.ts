/** Whether an Accept header names one of these types or ranges, in small letters, and does not say by `q=0` that it is not wanted. */
export function namesType(written: string, types: readonly string[]): boolean {
  return written.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return types.includes(type) && !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter));
  });
}
