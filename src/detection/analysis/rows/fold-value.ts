import { inferEntityType } from './entity-fields.ts';
import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';

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
