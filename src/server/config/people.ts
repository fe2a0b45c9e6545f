/**
 * Rules name people by plain names, in a tenant. Two who vouch for names there could each have an "ann", who would be one to
 * every rule: so they must be of different tenants, or the operator says that they know the same people.
 */
import { DEFAULT_TENANT } from "../../contract/index.ts";
import { issuerPlace } from "../../mechanisms/identity/claims.ts";
import { type Problem, valueAt } from "./problem.ts";

/** How certificates and the gateway's own tokens are called among sources; issuers are called by their URLs. */
const CERTIFICATES = "mtls";
const TOKENS = "tokens";

/** `tenant` undefined: a claim says it, and it may be any but the platform's own. */
type Source = { readonly name: string; readonly tenant: string | undefined; readonly path: Problem["path"] };

export function checkPeople(table: unknown, isIssuerUrl: (text: string) => boolean): Problem[] {
  const sources = sourcesIn(table).filter(({ name }) => name === CERTIFICATES || isIssuerUrl(name));
  const declared = valueAt(table, ["auth", "samePeople"]);
  const same: readonly unknown[] = Array.isArray(declared) ? declared : [];
  const hasTokens = valueAt(table, ["auth", "tokens"]) === true;
  const known = [...sources.map(({ name }) => name), ...(hasTokens ? [TOKENS] : [])];
  const unknown = same.flatMap((name, index) =>
    typeof name === "string" && !known.includes(name)
      ? [{ path: ["auth", "samePeople", index], text: EXPECTED_SOURCE }]
      : [],
  );
  const beside = hasTokens && !same.includes(TOKENS) ? besideTokens(sources) : [];
  const strangers = sources.flatMap((source, index) => {
    const other = sources.slice(0, index).find((one) => canMeet(one, source) && !areSame(same, one, source));
    return other ? [{ path: source.path, text: explain(source, other) }] : [];
  });
  const areStrangers = sources.some((one) => sources.some((other) => one !== other && !areSame(same, one, other)));
  return [...unknown, ...beside, ...strangers, ...alike(sources), ...(areStrangers ? rowsForAnyTenant(table) : [])];
}

const EXPECTED_SOURCE = `expected the url of an issuer here, "${CERTIFICATES}" or, with tokens = true, "${TOKENS}"`;

/** Tokens are made for people of any tenant, so they meet everybody: whoever makes them must mean the people that are known there. */
function besideTokens([first]: readonly Source[]): Problem[] {
  if (!first) return [];
  const text = `it and tokens of the gateway both name users, and the same name would be the same person; add ${JSON.stringify(TOKENS)} to samePeople in [auth] if a token is made for nobody but whom it knows by that name, or leave one of the two out`;
  return [{ path: first.path, text }];
}

/** Where several tenants have people of their own, a name alone is of nobody: a row that allows by one says of which tenant. */
function rowsForAnyTenant(table: unknown): Problem[] {
  const check = (rows: string, allows: (row: unknown) => string | undefined): Problem[] => {
    const found = valueAt(table, ["access", rows]);
    return (Array.isArray(found) ? found : []).flatMap((row: unknown, index) => {
      const name = valueAt(row, ["tenant"]) === undefined ? allows(row) : undefined;
      return name === undefined ? [] : [{ path: ["access", rows, index, "tenant"], text: explainRow(name) }];
    });
  };
  return [
    ...check("grants", (row) => (valueAt(row, ["permission"]) === "deny" ? undefined : nameIn(row, ["agent"]))),
    ...check("bindings", (row) =>
      valueAt(row, ["allowed"]) === false ? undefined : nameIn(row, ["target", "pattern"]),
    ),
    ...check("rules", (row) => (valueAt(row, ["effect"]) === "allow" ? conditionOnNames(row) : undefined)),
  ];
}

function nameIn(row: unknown, path: Problem["path"]): string | undefined {
  const name = valueAt(row, path);
  return typeof name === "string" && name !== "*" ? name : undefined;
}

function conditionOnNames(row: unknown): string | undefined {
  const when = valueAt(row, ["when"]);
  return typeof when === "string" && /\bprincipal\b/.test(when) ? when : undefined;
}

function explainRow(name: string): string {
  return `expected a tenant: several of [auth] name people, and each may have one whom ${JSON.stringify(name)} means; "*" is for all of them`;
}

function sourcesIn(table: unknown): readonly Source[] {
  const issuers = valueAt(table, ["auth", "issuers"]);
  const certificates = valueAt(table, ["auth", CERTIFICATES]);
  const named = (Array.isArray(issuers) ? issuers : []).flatMap((issuer: unknown, index): Source[] => {
    const name = valueAt(issuer, ["url"]);
    const isClaimed = valueAt(issuer, ["claims", "tenant"]) !== undefined;
    const tenant = isClaimed ? undefined : tenantIn(issuer);
    return typeof name === "string" ? [{ name, tenant, path: ["auth", "issuers", index] }] : [];
  });
  if (certificates === undefined) return named;
  return [...named, { name: CERTIFICATES, tenant: tenantIn(certificates), path: ["auth", CERTIFICATES] }];
}

function tenantIn(table: unknown): string {
  const tenant = valueAt(table, ["tenant"]);
  return typeof tenant === "string" ? tenant : DEFAULT_TENANT;
}

function canMeet(one: Source, other: Source): boolean {
  if (one.name === other.name) return false;
  if (one.tenant !== undefined && other.tenant !== undefined) return one.tenant === other.tenant;
  return (one.tenant ?? other.tenant) !== DEFAULT_TENANT;
}

function areSame(same: readonly unknown[], one: Source, other: Source): boolean {
  return same.includes(one.name) && same.includes(other.name);
}

function explain(source: Source, other: Source): string {
  const tenant = source.tenant ?? other.tenant;
  const where = tenant === undefined ? "any tenant" : `the tenant ${JSON.stringify(tenant)}`;
  const both = JSON.stringify([other.name, source.name]);
  return `it and ${other.name} both name users of ${where}, and the same name would be the same person; give one of them another tenant, and rows of [access] about its people that tenant, or set samePeople = ${both} in [auth] if they know the same people`;
}

/** Principals are told apart by where their issuer is: two that differ only in a slash or in https would be one there. */
function alike(sources: readonly Source[]): Problem[] {
  const places = sources.map(({ name }) => (name === CERTIFICATES ? name : issuerPlace(name)));
  return sources.flatMap(({ name, path }, index) => {
    const first = sources[places.indexOf(places[index] ?? "")];
    if (first === undefined || first.name === name) return [];
    return [{ path: [...path, "url"], text: `${JSON.stringify(name)} cannot be told from ${first.name}` }];
  });
}
