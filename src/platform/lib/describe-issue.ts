const optionsPattern = /^Invalid option: expected one of (.+)$/s;
const literalPattern = /^Invalid input: expected ("[^]*"|-?\d+|true|false)$/;
const typePattern = /^Invalid input: expected (\w+), received/;
const boundPattern = /^Too (?:small|big): expected (\w+) to (?:have|be) ([<>]=?)(\S+)/;

/** Returns the message of a schema issue in the words of the API instead of zod's. Messages that a schema states itself stay as they are. */
export function describeIssue(message: string): string {
  if (message.endsWith('received undefined')) return 'is missing';
  const [, options] = optionsPattern.exec(message) ?? [];
  if (options !== undefined) return `must be one of ${options.replaceAll('"', '').split('|').join(', ')}`;
  const [, literal] = literalPattern.exec(message) ?? [];
  if (literal !== undefined) return `must be ${literal.replaceAll('"', '')}`;
  const [, expected = ''] = typePattern.exec(message) ?? [];
  if (expected in types) return `must be ${types[expected]}`;
  const [, type, comparison, bound] = boundPattern.exec(message) ?? [];
  if (bound !== undefined) return describeBound(type!, comparison!, bound);
  return messages[message] ?? message;
}

const messages: Record<string, string> = {
  'Invalid ISO date': 'must be a date such as 2026-03-02',
  'Invalid ISO datetime': 'must be an RFC 3339 time such as 2026-03-02T00:00:00Z',
};

/** The types of JSON by zod's names. */
const types: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

const units: Record<string, string> = { array: 'item', string: 'character', record: 'field' };

function describeBound(type: string, comparison: string, bound: string): string {
  const unit = units[type];
  const limit = { '>=': 'at least', '<=': 'at most', '>': 'more than', '<': 'less than' }[comparison];
  return unit ? `must have ${limit} ${bound} ${unit}${bound === '1' ? '' : 's'}` : `must be ${limit} ${bound}`;
}
