/** Who shows a certificate: one name of it, at one place, is the user. */
import { DEFAULT_TENANT, type HttpPeer, isLocalUser, type Principal, type Role } from "../../contract/index.ts";
import { refuse } from "./refusal.ts";

/** Where in a certificate the user stands. */
export const CERTIFICATE_NAMES = ["subject.CN", "subject.UID", "san.email", "san.uri", "san.dns"] as const;
export type CertificateName = (typeof CERTIFICATE_NAMES)[number];

export type CertificateConfig = {
  readonly user: CertificateName;
  readonly tenant: string;
  /** Whether the organisational units of the subject are its groups. */
  readonly hasGroups: boolean;
  readonly scopes: readonly string[];
  readonly role: Role | undefined;
};

type Certificate = NonNullable<HttpPeer["certificate"]>;

const MAX_NAME = 256;
const ALTERNATIVE_KINDS: Readonly<Record<string, string>> = {
  "san.email": "email",
  "san.uri": "URI",
  "san.dns": "DNS",
};

/** Throws NOT_AUTHENTICATED. */
export function principalOfCertificate(certificate: Certificate, config: CertificateConfig): Principal {
  const { isTrusted, subject, fingerprint, expiresAt } = certificate;
  if (!isTrusted) throw refuse("certificate");
  const names = config.user.startsWith("subject.")
    ? textsOf(subject[config.user.slice("subject.".length)])
    : alternativeNames(certificate.alternativeNames, ALTERNATIVE_KINDS[config.user] ?? "");
  const [user = ""] = names;
  // Two names could be two users, and which of them is meant would be for whoever made the certificate to choose.
  if (names.length !== 1 || user === "" || user.length > MAX_NAME) throw refuse("certificate");
  const { tenant, scopes, role } = config;
  if (isLocalUser({ tenant, user })) throw refuse("certificate");
  const place = tenant === DEFAULT_TENANT ? "" : `${encodeURIComponent(tenant)}/`;
  return {
    id: `certificate:${place}${encodeURIComponent(user)}/${fingerprint.slice(0, 16)}`,
    identity: {
      tenant,
      user,
      client: fingerprint,
      groups: config.hasGroups ? textsOf(subject.OU) : [],
      scopes,
      role,
      proof: "certificate",
      expiresAt,
    },
  };
}

function textsOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

/** Values that could be read in two ways come in quotes; whoever has one of those is nobody. */
function alternativeNames(text: string, kind: string): readonly string[] {
  if (text.includes('"')) return [];
  const start = `${kind}:`;
  return text
    .split(", ")
    .filter((entry) => entry.startsWith(start))
    .map((entry) => entry.slice(start.length));
}
