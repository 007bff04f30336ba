/** Returns the JSON object in a model's text, often in a code fence, or undefined. Models without tool support submit their answer this way. */
export function extractJson(text: string): unknown {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from === -1 || to < from) return undefined;
  try {
    return JSON.parse(text.slice(from, to + 1));
  } catch {
    return undefined;
  }
}
