import { isFlawed } from './name-cues.ts';
import type { NamedEntity } from './dictionary/name-dictionary.ts';
import type { NameMention } from './name-kinds.ts';

const listSeparator =
  /^ ?(?:[,/&([]|["“”’']|and |or |aka |und |sowie |et |y |e |ed |o |ou |oder |S\d{4}[\])]| |\]|\)){1,9}$/;

/** Marks names next to a cued name in a list or in brackets as cued: `Emotet, Royal and Play`. */
export function cueNeighbours(text: string, mentions: NameMention[]): void {
  const link = (from: NameMention, to: NameMention, gap: string): void => {
    if (!from.cued || to.cued || to.isPart || !/^\p{Lu}/u.test(to.word)) return;
    to.cued = gap === ' ' ? sharesEntity(from, to) : listSeparator.test(gap);
  };
  for (const [index, mention] of mentions.entries()) {
    const last = mentions[index - 1];
    if (last) link(last, mention, text.slice(last.span.end, mention.span.start).slice(0, 40));
  }
  for (let index = mentions.length - 2; index >= 0; index -= 1) {
    const [mention, next] = [mentions[index]!, mentions[index + 1]!];
    link(next, mention, text.slice(mention.span.end, next.span.start).slice(0, 40));
  }
}

/** Returns the tools of which the text mentions a weakness: products of the victims rather than tools of the attackers. */
export const listFlawedTools = (text: string, mentions: NameMention[]): Set<NamedEntity> =>
  new Set(
    mentions.flatMap(({ entry, span }) =>
      entry?.entities.every(({ kind }) => kind === 'tool') && isFlawed(text, span) ? entry.entities : [],
    ),
  );

/** Returns whether two mentions may be of one entity. */
export const sharesEntity = (one: NameMention, other: NameMention): boolean =>
  one.entry?.entities.some((entity) => other.entry?.entities.includes(entity)) === true;
