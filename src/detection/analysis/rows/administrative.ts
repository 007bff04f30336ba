import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';

/** Fields that state an operation, by their last name. */
export const operationField =
  /^(?:eventname|action|eventaction|operation|operationname|activity|activityname|commandline|processcommandline|command|scriptblocktext|query|queryname|newprocessname|methodname|method|verb)$/;
const lengthMax = 200;

const { changes, objects } = readWords();

/** Reads the words for a change, and those for what decides who may do what and what is recorded. Objects may have several words. */
function readWords(): { changes: Set<string>; objects: string[] } {
  const lines = readFileSync(resolve(import.meta.dirname, 'administrative-operations.tsv'), 'utf8')
    .trimEnd()
    .split('\n');
  const words = (kind: string): string[] =>
    lines.flatMap((line) => (line.startsWith(`${kind}\t`) ? [line.slice(kind.length + 1)] : []));
  return { changes: new Set(words('change')), objects: words('object').map((words) => ` ${words} `) };
}

/**
 * Returns whether a value is the name of an operation that changes accounts, credentials, rights or what is recorded, such as `CreateUser`,
 * `StopLogging` and `Add member to role`. Operations on workloads, such as `CreateFunction`, are not administrative.
 */
export function isAdministrative(field: string, value: string): boolean {
  if (value.length > lengthMax || !operationField.test(plainFieldName(field))) return false;
  const words = value
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  if (!words?.some((word) => changes.has(word))) return false;
  const text = ` ${words.map((word) => word.replace(/(?<!s)s$/, '')).join(' ')} `;
  return objects.some((object) => text.includes(object));
}
