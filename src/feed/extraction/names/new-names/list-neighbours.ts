import type { ExtractedName } from '../extracted-name.ts';
import type { NewName } from './new-name.ts';
import { readItems } from './new-name-lists.ts';
import { isTool } from './tool-names.ts';
import { isDistinctive, isOrganization, isUsable, trimName } from './usable-names.ts';

const itemsMin = 3;

/**
 * Returns the unknown items of lists of which at least half are found names of one kind: `FormBook, Remcos, Foobar and XWorm`. `known` are the
 * spans of found names.
 */
export function findListNeighbours(text: string, found: Iterable<ExtractedName>): NewName[] {
  const known = new Map<number, ExtractedName['kind']>();
  for (const { kind, spans, ambiguous } of found)
    for (const span of ambiguous ? [] : spans) known.set(span.start, kind);
  const names: NewName[] = [];
  let read = 0;
  for (const start of [...known.keys()].toSorted((a, b) => a - b)) {
    if (start < read) continue;
    const from = startOfList(text, start);
    const { items, end } = readItems(text, from);
    const isPair = items.length === 2 && ofPair.test(text.slice(end, end + 40));
    if (items.length < itemsMin && !isPair) continue;
    read = end;
    const listed = items.map((item) => known.get(item.start));
    const kind = listed.find((one) => one !== undefined);
    const isMixed = listed.some((one) => one !== undefined && (one === 'actor') !== (kind === 'actor'));
    if (kind === undefined || isMixed || 2 * listed.filter((one) => one !== undefined).length < items.length) continue;
    for (const [index, { printed: full, start: at }] of items.entries()) {
      const printed = trimName(full);
      const isName =
        !printed.includes('/') &&
        (kind === 'tool'
          ? isTool(printed)
          : isUsable(printed, true) && isDistinctive(printed) && !isOrganization(printed));
      if (listed[index] === undefined && isName)
        names.push({
          kind,
          name: printed,
          span: { start: at, end: at + printed.length },
          isStated: true,
          isCommon: false,
          isScheme: false,
        });
    }
  }
  return names;
}

/** Words after two names that make both of them malware: `Foobar and Barfoo are distributed`. */
const ofPair =
  /^ (?:are|were|have been) (?:being |also |both )?(?:distributed|delivered|deployed|spread|dropped|installed|sold)\b/;
const earlierItems = /(?:["“‘]?\p{Lu}[\p{L}\d.-]*(?: \p{Lu}[\p{L}\d.-]*){0,1}["”’]?, ){1,8}$/u;
/** Returns where the list begins that a name may continue. */
function startOfList(text: string, start: number): number {
  const before = text.slice(Math.max(0, start - 160), start);
  return start - (earlierItems.exec(before)?.[0].length ?? 0);
}
