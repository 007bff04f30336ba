import {
  askingVerbs,
  functionWords,
  leadWords,
  makingVerbs,
  objectStarts,
  openQuestion,
  questionWords,
  studyVerbs,
  textObject,
} from './english.ts';
import type { FieldRole } from './field-roles.ts';
import type { Segment } from './segments.ts';

/** Returns whether the segment contains an English question. In scripts and commands it needs a question mark. */
export function isQuestion({ words, starts, isQuestion: isMarked }: Segment, role: FieldRole): boolean {
  const isCommand = role === 'script' || role === 'code';
  return starts.some((start) => {
    const length = words.length - start;
    if (!questionWords.has(words[start]!)) return false;
    if (isMarked) return length >= (isCommand ? 5 : 3);
    return role !== 'script' && length >= (isCommand ? 5 : 4) && openQuestion.test(words.slice(start).join(' '));
  });
}

/** Returns whether a sentence of the segment begins with an imperative that asks for a text. */
export function isImperative({ words, starts }: Segment, role: FieldRole): boolean {
  return starts.some((start) => {
    let at = start;
    while (leadWords.has(words[at] ?? '')) at += 1;
    if (words.length - at < 3) return false;
    const verb = words[at]!;
    const isAsking = askingVerbs.has(verb) || (studyVerbs.has(verb) && role !== 'script');
    if (!isAsking && !makingVerbs.has(verb) && !studyVerbs.has(verb)) return false;
    const next = words[at + 1]!;
    const object = words.slice(at + 1).join(' ');
    if (isAsking && (objectStarts.has(next) || textObject.test(object))) return true;
    if (
      /^(?:suggest|recommend|explain|describe|summari[sz]e|translate|compose|discuss|paraphrase|recite|imagine|outline)$/.test(
        verb,
      )
    )
      return words.length - at >= 4 && role !== 'script';
    if (/^(?:me|us) (?!\S+$)/.test(object)) return role !== 'script';
    return (
      textObject.test(object) &&
      (objectStarts.has(next) || textObject.exec(object)?.index === 0 || role === 'label' || role === 'path')
    );
  });
}

/** Returns whether words begin like an order: a verb in its base form, then a function word. */
export function isOrderLike([verb = '', next = '', ...rest]: readonly string[]): boolean {
  return (
    (askingVerbs.has(verb) || studyVerbs.has(verb) || makingVerbs.has(verb)) &&
    objectStarts.has(next) &&
    rest.some((word) => functionWords.has(word))
  );
}
