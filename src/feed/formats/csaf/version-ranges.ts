const comparison = /^(>=|<=|!=|=|<|>)?\s*(.*)$/;

/**
 * Returns the ranges that a version of a product tree states, as people write them: `vers:npm/>=1.2|<1.5|2.0` (the VERS specification) is
 * `>= 1.2, < 1.5` and `2.0`. `vers:all/*` is `*`. Anything else is returned as it is.
 */
export function listVersionRanges(stated: string): string[] {
  const [, constraints] = /^vers:[a-z0-9.+-]+\/(.*)$/is.exec(stated) ?? [];
  if (constraints === undefined) return [stated];
  const ranges: string[] = [];
  let isOpen = false;
  for (const constraint of constraints.split('|').map((part) => part.trim())) {
    const [, sign = '=', version = ''] = comparison.exec(constraint)!;
    const text = sign === '=' ? decodePart(version) : `${sign} ${decodePart(version)}`;
    if (version === '') continue;
    // An upper bound closes the range of the lower one before it. An exception belongs to the range before it.
    if ((isOpen && sign.startsWith('<')) || (sign === '!=' && ranges.length > 0))
      ranges.push(`${ranges.pop()}, ${text}`);
    else ranges.push(text);
    isOpen = sign.startsWith('>') || (isOpen && sign === '!=');
  }
  return ranges.length > 0 ? ranges : [stated];
}

/** Decodes percent-encoded characters of a text. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
