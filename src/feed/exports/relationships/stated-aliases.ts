import type { Mention } from './find-mentions.ts';

const naming =
  '(?:aka|a\\.k\\.a\\.?|also|formerly|previously|otherwise|tracked|known|monitored|identified|dubbed|called|(?:which|that) \\p{Lu}[\\p{L}\\d ]{1,30} (?:tracks|calls|names|dubbed))';
/** The words between a name and its first alias: `Foobar (also known as Barfoo`, `Foobar, which Example Labs tracks as Barfoo`. */
const firstAlias = new RegExp(String.raw`^["”’']?,? ?[([]?${naming}\b(?: [\p{L}\d-]+){0,6}? ["“‘']?$`, 'u');
/** The words between two aliases: `Barfoo and tracked by Example Labs as`, `Barfoo, Bazbar`. */
const furtherAlias = new RegExp(
  String.raw`^["”’']?(?:,|\/|,? (?:and|or))(?: ${naming}\b(?: [\p{L}\d-]+){0,6}?)? ?["“‘']?$`,
  'u',
);

/** Returns mentions without the names that a sentence introduces as aliases of the name before them, unless they are the same entity. */
export function withoutAliases<M extends Mention>(sentence: string, mentions: M[]): M[] {
  let list: 'bracketed' | 'open' | undefined;
  return mentions.filter((mention, index) => {
    const previous = mentions[index - 1];
    const gap = previous?.kind === mention.kind ? sentence.slice(previous.end, mention.start) : undefined;
    if (gap !== undefined && firstAlias.test(gap)) list = /[([]/.test(gap) ? 'bracketed' : 'open';
    else if (gap === undefined || !continuesAliases(gap, list)) list = undefined;
    return list === undefined || mention.name === previous!.name;
  });
}

/** Outside brackets, a name after `and` is another subject: `Foobar, also known as Barfoo, and Bazbar attacked`. */
const continuesAliases = (gap: string, list: 'bracketed' | 'open' | undefined): boolean =>
  list !== undefined && furtherAlias.test(gap) && (list === 'bracketed' || hasNaming.test(gap));
const hasNaming = new RegExp(String.raw`\b${naming}\b`, 'u');
