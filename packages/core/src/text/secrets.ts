/**
 * Takes secrets out of text, before it is stored [F67] or logged: keys and tokens by their issuers' forms, passwords and keys
 * by what they are assigned to, passphrases and seed phrases, connection strings, private keys, numbers of cards, accounts
 * and people that pass their checks. What only looks long or random (hashes, ids, versions) stays.
 */

type SecretKind =
  | "private-key"
  | "connection-string"
  | "token"
  | "password"
  | "passphrase"
  | "card"
  | "account"
  | "identity";

export interface RedactedText {
  readonly text: string;
  readonly found: readonly SecretKind[];
}

export function redactSecrets(text: string): RedactedText {
  return redacted(text, []);
}

/**
 * The secrets themselves, and the parts of those that are written in several: to be found again where nothing stands
 * around them. Too short or too plain a word is left out, since it would be found everywhere. Never for a log.
 */
export function secretsIn(text: string): string[] {
  const values: string[] = [];
  redacted(text, values);
  // Full-width letters and signs without a width hide a secret from the forms below.
  const plain = text.normalize("NFKC").replace(/[\u200b-\u200d\u2060\ufeff]/g, "");
  if (plain !== text) redacted(plain, values);
  const parts = values.flatMap((value) => [value, ...value.split(/[\s.-]+/).filter((part) => /\d/.test(part))]);
  const bare = parts.map((value) => value.replace(/^[\\"'`*]+|(?<![\\"'`*.,;!?)])[\\"'`*.,;!?)]+$/g, ""));
  return [...new Set(bare)].filter(
    (value) => value.length >= 4 && (/\d/.test(value) || /[a-z][A-Z]/.test(value) || value.length >= 8),
  );
}

function redacted(text: string, values: string[]): RedactedText {
  const kinds: SecretKind[] = [];
  let clean = withoutTableSecrets(text, values, kinds);
  for (const { kind, pattern, keep, valid } of RULES) {
    clean = clean.replace(pattern, (...match: unknown[]) => {
      const groups = match.filter((part) => typeof part === "string" || part === undefined) as (string | undefined)[];
      const whole = groups[0]!;
      if (valid !== undefined && !valid(whole, groups)) return whole;
      kinds.push(kind);
      const mark = `[redacted ${kind}]`;
      const shown = keep === undefined ? mark : keep(groups, mark);
      const at = shown.indexOf(mark);
      values.push(whole.slice(at, whole.length - (shown.length - at - mark.length)));
      return shown;
    });
  }
  return { text: clean, found: kinds };
}

/** What stands below a password in the head of a table. */
function withoutTableSecrets(text: string, values: string[], kinds: SecretKind[]): string {
  if (!TABLE.test(text)) return text;
  let columns: readonly number[] = [];
  let before: readonly string[] = [];
  const lines = text.split("\n").map((line) => {
    if (!line.includes("|")) {
      columns = [];
      return line;
    }
    const cells = line.split("|");
    if (/^[\s:|-]+$/.test(line) && line.includes("--")) {
      columns = before.flatMap((cell, index) => (SECRET_COLUMN.test(cell) ? [index] : []));
      return line;
    }
    before = cells;
    const shown = cells.map((cell, index) => {
      const value = cell.trim();
      if (!columns.includes(index) || value.length < 4 || value.startsWith("[redacted")) return cell;
      values.push(value);
      kinds.push("password");
      return cell.replace(value, () => "[redacted password]");
    });
    return shown.join("|");
  });
  return lines.join("\n");
}

const TABLE = /\|[ \t]*:?-{2}/;
const SECRET_COLUMN =
  /^\s*[*_]{0,2}(?:pass ?(?:word|phrase|code)s?|passwd|pwd|passwort|secret|(?:api |access )?(?:key|token)|pin)[*_]{0,2}\s*$/i;

/**
 * The text of an error, fit for a log: keys also where a provider repeats them half hidden, and the password of an address.
 * Coarser than `redactSecrets`, since an error is no loss.
 */
export function maskSecrets(text: string): string {
  return text
    .replace(TOKEN, "[secret]")
    .replace(KEY_IN_ERROR, (_, name: string | undefined) => `${name ?? ""}[secret]`)
    .replace(ADDRESS_KEY, "$1[secret]")
    .replace(ADDRESS_PASSWORD, "$1[secret]@");
}

interface SecretRule {
  readonly kind: SecretKind;
  readonly pattern: RegExp;
  /** What stays around the mark: the name of a setting, the host of a server. */
  readonly keep?: (groups: readonly (string | undefined)[], mark: string) => string;
  readonly valid?: (whole: string, groups: readonly (string | undefined)[]) => boolean;
}

/** Each by a prefix that nothing else has. */
const TOKENS = [
  "sk-(?:\\*\\*)?(?:ant-|proj-|or-|live-|svcacct-|admin-)?(?:\\*\\*)?[A-Za-z0-9_-]{16,}",
  // A key of our own gateway.
  "pal_[A-Za-z0-9_-]{24,}",
  "[sr]k_(?:live|test)_[A-Za-z0-9]{10,}",
  "whsec_[A-Za-z0-9+/=]{16,}",
  "gh[pousr]_[A-Za-z0-9]{20,}",
  "github_pat_\\w{20,}",
  "glpat-[\\w-]{16,}",
  "xox[abeoprs]-[A-Za-z0-9-]{10,}",
  "(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}",
  "AIza[\\w-]{30,}",
  "ya29\\.[\\w-]{20,}",
  "npm_[A-Za-z0-9]{30,}",
  "pypi-[\\w-]{30,}",
  "hf_[A-Za-z0-9]{25,}",
  "SG\\.[\\w-]{16,}\\.[\\w-]{16,}",
  "dop_v1_[a-f0-9]{40,}",
  "dckr_pat_[\\w-]{20,}",
  "\\d{8,10}:AA[\\w-]{30,}",
  // Without further hyphens: "vercel-deployment-protection-bypass" is a name.
  "(?:(?:gsk|r8|ntn|lin_api|sbp|rnd|vercel)_|(?:pplx|xai|tvly|tvly-dev)-)[A-Za-z0-9]{28,}",
  "(?:figd_|vercel_blob_rw_)[\\w-]{28,}",
  "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
  "dapi[a-f0-9]{32}",
  "hv[sbr]\\.[\\w-]{24,}",
  "HRKU-[a-f0-9-]{36}",
  "AGE-SECRET-KEY-1[A-Z0-9]{50,}",
  // A bot's, whose first part is its number in base 64.
  "(?:[MNO][DTjz][AEIMQUYcgk][wxyz0-5]){5,6}[\\w-]{0,4}\\.[\\w-]{6}\\.[\\w-]{27,}",
  "(?<=hooks\\.slack\\.com/services/)[\\w/]{20,}",
  "eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]{8,}",
].join("|");

const TOKEN = new RegExp(`(?<![\\w-])(?:${TOKENS})`, "g");

const KEY_IN_ERROR =
  /\b(?:sk|pk|rk|key|gsk|xai|AIza|ghp|hf)[-_][A-Za-z0-9_*.-]{8,}|\bAIza[A-Za-z0-9_-]{20,}|(?<=\bBearer\s)\S+|(api[-_]?key["']?\s*[=:]\s*["']?)[^\s"',}]+/gi;

const ADDRESS_PASSWORD = /(:\/\/[^\s:@/]{0,64}:)[^\s@/]{1,256}@/g;

/** What an address carries that opens it. */
const ADDRESS_KEY = /([?&][\w-]{0,40}(?:key|token|secret|sig|signature|auth|passw(?:or)?d|pwd)=)([^\s&"'<>#]+)/gi;

const SETTING =
  "(?:(?<![\\w-])[\\w-]*(?:api[_-]?key|secret|token|passw(?:or)?d|passwd|pwd|passphrase|access[_-]?key|private[_-]?key|client[_-]?secret|credential)s?|passwort|kennwort|contrase\u00f1a|mot de passe|pin code|pin)";

const RULES: readonly SecretRule[] = [
  {
    kind: "private-key",
    pattern:
      /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  {
    kind: "connection-string",
    pattern: /\b([a-z][a-z0-9+.-]{1,20}:\/\/)([^\s:/@]*):([^\s@/]+)@([^\s"'<>]*)/gi,
    keep: ([, scheme, , , rest], mark) => `${scheme}${mark}@${rest}`,
  },
  {
    kind: "connection-string",
    pattern: /\b((?:AccountKey|SharedAccessKey|Password|Pwd)=)(?!\[redacted)([^;\s"']{4,})(?=;|\s|"|'|$)/g,
    keep: ([, name], mark) => `${name}${mark}`,
  },
  { kind: "token", pattern: TOKEN },
  {
    kind: "token",
    pattern: ADDRESS_KEY,
    keep: ([, name], mark) => `${name}${mark}`,
    valid: (_, [, , value]) => !value!.startsWith("[redacted") && looksRandom(value!),
  },
  {
    // A line of a file of passwords: host, port, database, user.
    kind: "password",
    pattern: /(?<![^\s"'`])([\w.*-]{1,100}:(?:\d{1,5}|\*):[\w*-]{1,64}:[\w*.@-]{1,64}:)([^\s"'`]{4,256})/g,
    keep: ([, name], mark) => `${name}${mark}`,
    valid: (_, [, , value]) => isMixed(value!),
  },
  {
    kind: "token",
    pattern: /\b(bearer|basic)\s+([A-Za-z0-9._~+/-]{16,}=*)/gi,
    keep: ([, scheme], mark) => `${scheme} ${mark}`,
    valid: (_, [, , value]) => looksRandom(value!),
  },
  {
    kind: "passphrase",
    pattern:
      /\b((?:pass ?(?:word|phrase|code)|(?:seed|recovery|backup|wallet|mnemonic) ?(?:phrase|words)?)s?(?: is|:| =)\s?["'`]?)(\p{L}{3,16}(?:[ -]\p{L}{3,16}){2,23})/giu,
    keep: ([, name], mark) => `${name}${mark}`,
    valid: (_, [, , words]) => isPassphrase(words!),
  },
  {
    // The words of a wallet, however introduced: no sentence has twelve words and no joining word among them.
    kind: "passphrase",
    pattern: /(?<![\p{L}\p{N}])[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23}(?![\p{L}\p{N}])/gu,
    valid: isPassphrase,
  },
  {
    kind: "account",
    pattern: /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\p{L}\p{N}])/giu,
    valid: isIban,
  },
  {
    kind: "identity",
    pattern: /(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g,
  },
  {
    kind: "identity",
    pattern: /\b((?:ssn|social security(?: number)?)(?: is|:| =)? ?)\d{9}(?!\d)/gi,
    keep: ([, name], mark) => `${name}${mark}`,
  },
  {
    kind: "password",
    pattern: new RegExp(
      `((?:(?<![\\p{L}\\p{N}])${SETTING}|\u5bc6\u7801|\u53e3\u4ee4)(?:\\\\{0,4}["'\`]?\\s*(?::=|=>|[:=\uff1a])\\s*(?:[|>][+-]?\\s{0,4}\\n\\s{0,20})?\\\\{0,4}["'\`]?|\\s+(?:is|ist|lautet|es|est)\\s+["'\`]?|\u662f\\s*["'\`]?))([^\\s"'\`,;]{4,})`,
      "giu",
    ),
    keep: ([, name], mark) => `${name}${mark}`,
    valid: (whole, [, name, value]) => isSecretValue(name!, value!, whole),
  },
  {
    kind: "password",
    pattern:
      /(?<![\p{L}\p{N}])((?:password|passphrase|passcode|passwort|kennwort|contrase\u00f1a|mot de passe)\s+["'`]?)([^\s"'`,;:=]{6,})/giu,
    keep: ([, name], mark) => `${name}${mark}`,
    valid: (_, [, , value]) => !value!.startsWith("[redacted") && isMixed(value!),
  },
  {
    kind: "password",
    pattern:
      /(?<![\p{L}\p{N}])((?:password|passphrase|passcode|passwort|kennwort)\s{1,4}(?:for|of|to|on|f\u00fcr|von)\s(?:[\p{L}\p{N}._-]{1,30}\s){1,5}(?:is|ist|was)\s(?:now\s|jetzt\s)?["'`]?)([^\s"'`,;:=]{6,})/giu,
    keep: ([, name], mark) => `${name}${mark}`,
    valid: (_, [, , value]) => !value!.startsWith("[redacted") && isMixed(value!),
  },
  {
    kind: "password",
    pattern:
      /(?<![\w-])((?:(?:curl|wget)\s[^\n|;&]{0,200}?)?(?<!\S)(?:-u|--user|--proxy-user)[ =]["']?[^\s:"'[]{1,64}:)([^\s"'[][^\s"']{2,255})/g,
    keep: ([, name], mark) => `${name}${mark}`,
    valid: (_, [, name, value]) => isMixed(value!) || /^(?:curl|wget)/.test(name!),
  },
  {
    kind: "password",
    pattern:
      /\b((?:mysql\w{0,10}|mariadb\w{0,10}|mongo\w{0,10}|sshpass)\b[^\n|;&]{0,200}?\s-p ?["']?)([^\s"'[-][^\s"']{3,255})/g,
    keep: ([, name], mark) => `${name}${mark}`,
    valid: (_, [, , value]) => !/^\d{1,5}$/.test(value!),
  },
  {
    kind: "password",
    pattern:
      /(<(?:[\w-]{1,20}:)?[\w-]{0,20}(?:password|passwd|pwd|passphrase|secret|token|api-?key|credential)>\s{0,10})([^<\s[][^<\n]{2,400})(?=<\/)/gi,
    keep: ([, name], mark) => `${name}${mark}`,
  },
  {
    kind: "token",
    pattern:
      /\b((?:set-)?cookie\\{0,4}["']?\s{0,4}:\s{0,4}\\{0,4}["']?)((?:[\w.-]{1,64}=(?!\[redacted)[^\s;,"'\\]{1,4096}(?:; ?)?){1,50})/gi,
    keep: ([, name], mark) => `${name}${mark}`,
    valid: (_, [, , value]) => value!.length >= 12,
  },
  {
    kind: "card",
    pattern: /(?<![\w.-])(?:\d[ .\n-]?){12,18}\d(?![\w-]|\.\d)/g,
    valid: (whole) => isCard(whole),
  },
];

/** After `password is`, prose goes on (`password is required`); after `password:` nearly everything is one. */
function isSecretValue(name: string, value: string, whole: string): boolean {
  if (value.startsWith("[redacted")) return false;
  if (/^(?:\$|%|<|\{\{|process\.env|os\.environ|\*{3,}|x{4,}$|\.{3})/i.test(value)) return false;
  if (
    /^(?:null|none|true|false|undefined|required|optional|missing|invalid|expired|empty|string|number|boolean)\W*$/i.test(
      value,
    )
  )
    return false;
  const assigned = /[:=\uff1a]/.test(name.slice(-6));
  if (/^pin/i.test(name)) return /^\d{4,8}\W*$/.test(value);
  if (/tokens?\W/i.test(name) && !/(?:access|auth|api|bearer|refresh|bot|secret)/i.test(name))
    return looksRandom(value);
  if (assigned)
    return (
      /[^a-z]/.test(value.replace(/(?<![.,!?)])[.,!?)]+$/, "")) || /passw|pwd|passphrase|kennwort|passwort/i.test(whole)
    );
  return /\d/.test(value) || /[a-z][A-Z]/.test(value) || /[^\p{L}\p{N}.,!?)-]/u.test(value) || quoted(whole);
}

/** Several words, none of which joins words or says something of a password; the lists of wallets hold a few of those. */
function isPassphrase(text: string): boolean {
  const words = text.split(/[ ,-]+/);
  return words.filter((word) => PROSE.has(word.toLowerCase())).length <= (words.length < 12 ? 0 : 1);
}

const PROSE: ReadonlySet<string> = new Set(
  `the a an and or but not no is are was were be been has have had will can could should would may must do does did
  in on at by for from of to with without into over under after before than then as if when while because that this these those
  which who whose where my your his her its our their they them you she he we i me us it there here same other another old new
  every each all any some more most less very too also only just still yet again never always often now today
  required optional needed wrong short long longer weak strong stored saved kept hashed encrypted changed reset expired lost
  forgotten missing invalid empty unknown secret safe shared known set used written printed`.split(/\s+/),
);

/** By its checksum, modulo 97, a few digits at a time. */
function isIban(written: string): boolean {
  const compact = written.replaceAll(" ", "").toUpperCase();
  if (compact.length < 15 || compact.length > 34) return false;
  const turned = compact.slice(4) + compact.slice(0, 4);
  let rest = 0;
  for (const char of turned) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

function quoted(whole: string): boolean {
  return /["'`][^"'`]+$/.test(whole);
}

/** Letters and digits, and not the name of an algorithm or a version ("password sha256", "password v2.1.0"). */
function isMixed(value: string): boolean {
  return (
    /\d/.test(value) &&
    /\p{L}/u.test(value) &&
    !/^(?:(?:sha|md|aes|utf|base|argon|pbkdf|oauth|v)-?\d|[\d.]+\w?\W*$)/i.test(value)
  );
}

/** Letters and digits mixed, as no word has them. */
function looksRandom(value: string): boolean {
  return (
    value.length >= 12 && /\d/.test(value) && /[A-Za-z]/.test(value) && !/^[a-z]+(?:[-_.][a-z]+)*\d{0,4}$/i.test(value)
  );
}

/** 13 to 19 digits that pass Luhn and begin as cards do; grouped as they are printed, or not at all. */
function isCard(written: string): boolean {
  const digits = written.replace(/\D/g, "");
  if (digits.length < 13 || digits.length > 19 || /^(\d)\1+$/.test(digits)) return false;
  if (!/^(?:4|5[1-5]|2[2-7]|3[47]|36|30[0-5]|38|6(?:011|5|4[4-9]|2)|35)/.test(digits)) return false;
  if (/\D/.test(written) && !/^(?:\d{4}[ .\n-]){2,4}\d{1,7}$|^\d{4}[ .\n-]\d{6}[ .\n-]\d{4,5}$/.test(written))
    return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
