/** Which values are better not written into a config that people show each other. */

const SECRET_NAME =
  /token|secret|passw|passphrase|credential|authorization|api[-_]?key|access[-_]?key|private[-_]?key|(?:^|[-_])(?:key|pat|auth|pwd|dsn|cookie)$/i;

/** Beginnings by which issuers mark their tokens. */
const SECRET_START =
  /^(?:sk-|sk_live|sk_test|rk_live|pk_live|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abeprs]-|xapp-|AKIA|ASIA|AIza|ya29\.|eyJ[\w-]+\.|hf_|npm_|pypi-|dop_v1_|shpat_|lin_api_|ntn_|secret_|figd_|tvly-|Bearer |Basic |-----BEGIN )/;

const URL_WITH_PASSWORD = /^[a-z][\w+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/** Settings, not secrets, whatever they are called. */
const PLAIN_VALUE = /^(?:true|false|yes|no|on|off|none|null|\d{1,9}|https?:\/\/[^@?]*|\.{0,2}\/.*|[A-Za-z]:\\.*)$/i;

const LONG = 24;

export function looksSecret(name: string, value: string): boolean {
  // A variable stands for a secret; it is none.
  const own = value.replace(/\$\{[^}]*\}/g, "");
  if (/^(?:Bearer |Basic )?$/.test(own) || PLAIN_VALUE.test(own)) return false;
  return SECRET_NAME.test(name) || SECRET_START.test(value) || URL_WITH_PASSWORD.test(value) || isRandom(value);
}

/** One long word of mixed characters is a key more often than anything else. */
function isRandom(value: string): boolean {
  if (value.length < LONG || !/^[\w+/=-]+$/.test(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(value)).length;
  return (kinds === 3 && !/[a-z]{8}/.test(value)) || /^[0-9a-f]{32,}$/i.test(value);
}
