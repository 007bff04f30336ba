/** JSON text as values, but whole numbers that a double cannot hold stay text. Throws a SyntaxError. */
export function parseExactJson(text: string): unknown {
  return /\d{16}/.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
}

const exact = ((_key: string, value: unknown, context?: { source?: string }) => {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? context.source : value;
}) as (key: string, value: unknown) => unknown;
