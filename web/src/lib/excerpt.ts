/** A piece of an excerpt in which a search found something. */
export type ExcerptSegment = { text: string; isMatch: boolean };

const leadMax = 32;

/** Cuts what comes long before the first match, so that one line shows the match. Cuts at a space where one is near. */
export function startNearMatch(segments: readonly ExcerptSegment[]): ExcerptSegment[] {
  const first = segments.findIndex(({ isMatch }) => isMatch);
  const lead = segments
    .slice(0, first)
    .map(({ text }) => text)
    .join('');
  if (lead.length <= leadMax) return [...segments];
  const near = lead.slice(-leadMax);
  return [{ text: `… ${near.slice(near.indexOf(' ') + 1)}`, isMatch: false }, ...segments.slice(first)];
}
