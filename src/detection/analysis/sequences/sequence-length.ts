export const stepsMax = 10;

/**
 * Returns the number of steps that a query declares: the largest constant from 1 to 10 that it assigns to the column `step`, as in
 * `2 AS step`, `CASE … THEN 3 … END AS step`, `step = 3` or `step = case(…, 3)`. Returns undefined if there is none.
 */
export function parseDeclaredLength(query: string): number | undefined {
  const text = removeStrings(query);
  const numbers = [...findLiterals(text), ...findCaseBranches(text), ...findCallBranches(text)].map(Number);
  const steps = numbers.filter((number) => number >= 1 && number <= stepsMax);
  return steps.length > 0 ? Math.max(...steps) : undefined;
}

const columnEnd = String.raw`\s+as\s+["\`\[]?step["\`\]]?(?!\w)`;

function findLiterals(text: string): string[] {
  const aliased = [...text.matchAll(new RegExp(String.raw`\b(\d{1,2})(?:::\w+)?${columnEnd}`, 'gi'))];
  const assigned = [...text.matchAll(/\bstep\s*=\s*(\d{1,2})\b/gi)];
  return [...aliased, ...assigned].map((match) => match[1]!);
}

/** Returns the THEN and ELSE constants of each CASE that ends with `AS step`. */
function findCaseBranches(text: string): string[] {
  const ends = [...text.matchAll(new RegExp(String.raw`\bend\b(?:\s*\))*${columnEnd}`, 'gi'))];
  return ends.flatMap((end) => {
    const body = text.slice(findCaseStart(text, end.index), end.index);
    return [...body.matchAll(/\b(?:then|else)\s+\(?\s*(\d{1,2})\b/gi)].map((match) => match[1]!);
  });
}

function findCaseStart(text: string, end: number): number {
  let depth = 1;
  const words = [...text.slice(0, end).matchAll(/\b(?:case|end)\b/gi)].toReversed();
  for (const word of words) {
    depth += word[0].toLowerCase() === 'end' ? 1 : -1;
    if (depth === 0) return word.index;
  }
  return 0;
}

/** Returns the constant arguments of `step = case(a, 1, b, 2)`, as in Splunk and Kusto. */
function findCallBranches(text: string): string[] {
  return [...text.matchAll(/\bstep\s*=\s*(?:case|if|iff|iif)\s*\(/gi)].flatMap((call) => {
    const parts: string[] = [''];
    let depth = 1;
    for (const char of text.slice(call.index + call[0].length)) {
      if (char === '(') depth++;
      if (char === ')') depth--;
      if (depth === 0) break;
      if (char === ',' && depth === 1) parts.push('');
      else parts[parts.length - 1] += char;
    }
    return parts.map((part) => part.trim()).filter((part) => /^\d{1,2}$/.test(part));
  });
}

/** Removes comments and quoted text, but keeps a quoted column `step`. */
function removeStrings(query: string): string {
  return query
    .replaceAll(/--[^\n]*|\/\*[^]*?\*\//g, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/"(?!step")(?:[^"]|"")*"/gi, '""');
}
