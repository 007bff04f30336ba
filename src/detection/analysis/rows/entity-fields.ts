import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';
import fieldsByOrigin from './common-entity-fields.json' with { type: 'json' };

/** Kinds of values in which upper and lower case mean the same. */
const caseless = new Set(['user', 'account', 'role', 'host', 'domain', 'hash', 'country', 'ip', 'bucket']);
const idField = /(?:id|uid|guid|key)$/;
const email = /^[^@\s]+@[^@\s]+$/;
const hexadecimal = /^\{?[0-9a-f][0-9a-f-]{30,}\}?$/i;
const windowsName = /^(?:[a-z]:)?[^/]*\\|\.(?:exe|dll|sys|bat|cmd|ps1|com|msi|scr|vbs|lnk)$/i;

/**
 * Returns a value of a field in the form in which it is compared: trimmed, and in lower case if the field is of a kind that ignores case (accounts,
 * hosts, domains, countries, hashes, addresses) or the value is an e-mail address, hexadecimal, or a path of Windows. Other values and
 * opaque IDs keep their case.
 */
export function foldValue(field: string, text: string): string {
  const trimmed = text.trim();
  const lower = trimmed.toLowerCase();
  if (lower === trimmed) return trimmed;
  if (email.test(trimmed) || hexadecimal.test(trimmed)) return lower;
  const kind = inferEntityType(field, trimmed);
  if (kind === 'file' || kind === 'process')
    return trimmed.includes('/') || !windowsName.test(trimmed) ? trimmed : lower;
  if (/^(?:[a-z]:\\|\\\\|hk(?:lm|cu|u|cr|ey_))/i.test(trimmed)) return lower;
  return caseless.has(kind) && !idField.test(plainFieldName(field)) ? lower : trimmed;
}

/** Fields in which logs usually contain a row's entity, by priority. The file groups them by where they come from. */
export const commonEntityFields: readonly string[] = Object.values(fieldsByOrigin).flat();

const typeByName: [RegExp, string][] = [
  [/^(?:entity|arn|principal|subject)$/, ''],
  [/accesskey/, 'access_key'],
  [/(?:^|[a-z])ip(?:address|addr|v4|v6)?$|^addr(?:ess)?$|ipaddress/, 'ip'],
  [/email|user|alternateid|principalemail|displayname|invokedby|principalid/, 'user'],
  [/country/, 'country'],
  [/account|tenant|project/, 'account'],
  [/role/, 'role'],
  [/host|computer|device|machine|workstation|server|instance/, 'host'],
  [/process|image|executable/, 'process'],
  [/file|path/, 'file'],
  [/domain|fqdn|dns|queryname|question/, 'domain'],
  [/url|uri/, 'url'],
  [/bucket/, 'bucket'],
  [/service/, 'service'],
  [/hash|md5|sha1|sha256/, 'hash'],
];

/** Returns an entity's type, inferred from the name of its field, else from the form of the value, else `entity`. */
export function inferEntityType(field: string, value: string): string {
  const name = simplifyFieldName(field);
  const byName = typeByName.find(([pattern]) => pattern.test(name))?.[1];
  return byName || inferTypeFromValue(value);
}

/** Returns the plain field name, or that of the parent for fields such as `user.name` and `host.id`. */
function simplifyFieldName(field: string): string {
  const name = plainFieldName(field);
  const dot = field.lastIndexOf('.');
  return dot > 0 && /^(?:name|id|uid|hostname)$/.test(name) ? plainFieldName(field.slice(0, dot)) : name;
}

function inferTypeFromValue(value: string): string {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(value) || /^[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}$/i.test(value)) return 'ip';
  if (/^arn:[^:]*:(?:iam|sts)::\d*:user\//.test(value)) return 'user';
  if (/^arn:[^:]*:(?:iam|sts)::\d*:(?:assumed-)?role\//.test(value)) return 'role';
  if (/^arn:[^:]*:iam::\d*:root$/.test(value)) return 'account';
  if (/^[^@\s]{1,64}@[^@\s]+\.[a-z]{2,}$/i.test(value)) return 'user';
  return value.startsWith('arn:') ? 'resource' : 'entity';
}
