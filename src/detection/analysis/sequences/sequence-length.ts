export const stepsMax = 10;

/**
 * How many steps a query declares: the largest constant (1 to 10) that it puts into a column `step`, as in `2 AS step`,
 * `CASE … THEN 3 … END AS step`, `step = 3` or `step = case(…, 3)`. Undefined where it cannot be told from the text.
 */
export function declaredSteps(query: string): number | undefined {
  const text = withoutStrings(query);
  const numbers = [...literals(text), ...caseBranches(text), ...callBranches(text)].map(Number);
  const steps = numbers.filter((number) => number >= 1 && number <= stepsMax);
  return steps.length > 0 ? Math.max(...steps) : undefined;
}

const columnEnd = String.raw`\s+as\s+["\`\[]?step["\`\]]?(?!\w)`;

function literals(text: string): string[] {
  const found = [...text.matchAll(new RegExp(String.raw`\b(\d{1,2})(?:::\w+)?${columnEnd}`, 'gi'))];
  const assigned = [...text.matchAll(/\bstep\s*=\s*(\d{1,2})\b/gi)];
  return [...found, ...assigned].map((match) => match[1]!);
}

/** The THEN and ELSE constants of each CASE that ends in `AS step`. */
function caseBranches(text: string): string[] {
  const ends = [...text.matchAll(new RegExp(String.raw`\bend\b(?:\s*\))*${columnEnd}`, 'gi'))];
  return ends.flatMap((end) => {
    const body = text.slice(caseStart(text, end.index), end.index);
    return [...body.matchAll(/\b(?:then|else)\s+\(?\s*(\d{1,2})\b/gi)].map((match) => match[1]!);
  });
}

function caseStart(text: string, end: number): number {
  let depth = 1;
  const words = [...text.slice(0, end).matchAll(/\b(?:case|end)\b/gi)].toReversed();
  for (const word of words) {
    depth += word[0].toLowerCase() === 'end' ? 1 : -1;
    if (depth === 0) return word.index;
  }
  return 0;
}

/** `step = case(a, 1, b, 2)` of Splunk and Kusto: the arguments that are bare constants. */
function callBranches(text: string): string[] {
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

/** Comments and quoted text say nothing about steps; a quoted column name keeps its name. */
function withoutStrings(query: string): string {
  return query
    .replaceAll(/--[^\n]*|\/\*[^]*?\*\//g, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/"(?!step")(?:[^"]|"")*"/gi, '""');
}
