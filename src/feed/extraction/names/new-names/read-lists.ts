import type { NameList } from './new-name-lists.ts';
import type { AddName } from './new-name.ts';
import { isDistinctive, isUsable, trimLead, trimName } from './usable-names.ts';

/** Returns whether most lines below a heading look like names, unlike those of a table. */
export const isMostlyNames = ({ items }: NameList): boolean =>
  2 * items.filter(({ printed }) => isUsable(trimName(printed)) && isDistinctive(trimName(printed))).length >
  items.length;

/** Adds the names of lists that a text introduces by their kind. */
export function readLists(lists: NameList[], offset: number, add: AddName): void {
  for (const { kind, items, isSingle } of lists) {
    // A common word counts as a name only in a list that also has a distinctive name.
    if (!isUsable(trimName(items[0]!.printed), true) || !items.some(({ printed }) => isDistinctive(trimName(printed))))
      continue;
    for (const { printed: full, start } of items.flatMap(splitAlias).map(afterPreposition)) {
      const printed = trimLead(trimName(full));
      if (isUsable(printed, !isSingle)) add(kind, printed, offset + start + full.indexOf(printed));
    }
  }
}

/** Returns the name after the preposition of a headline: `Expands Malware Arsenal With Foobar`. */
function afterPreposition({ printed, start }: NameList['items'][number]): NameList['items'][number] {
  const length = /^.* (?:With|Via|Using) (?=\p{Lu})/u.exec(printed)?.[0].length ?? 0;
  return { printed: printed.slice(length), start: start + length };
}

/** Splits two names of one item: `Foobar/Barfoo`. */
function splitAlias({ printed, start }: NameList['items'][number]): NameList['items'] {
  const [first = '', second] = printed.split('/');
  return second === undefined
    ? [{ printed, start }]
    : [
        { printed: first, start },
        { printed: second, start: start + first.length + 1 },
      ];
}
