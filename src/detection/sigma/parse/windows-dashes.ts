import type { PatternPart, TextPattern } from '../../matching/expression.ts';
import { simplifyPattern } from '../../matching/text-pattern.ts';

const dashes = ['-', '/', '\u2013', '\u2014', '\u2015'];
const dashesMax = 4;
const dashBeforeWord = /\B[-/]\b/g;

/** Returns the pattern with each dash or slash that begins an option replaced by every character that Windows programs accept there. */
export function expandDashes(pattern: TextPattern): TextPattern[] {
  const choices: PatternPart[][] = pattern.flatMap((part) => ('text' in part ? splitAtDashes(part.text) : [[part]]));
  if (choices.filter((choice) => choice.length > 1).length > dashesMax)
    throw new Error(`windash accepts at most ${dashesMax} options in a value. Split the value with contains|all`);
  const variants = choices.reduce<PatternPart[][]>(
    (all, choice) => all.flatMap((before) => choice.map((part) => [...before, part])),
    [[]],
  );
  return variants.map((parts) => simplifyPattern(parts));
}

function splitAtDashes(text: string): PatternPart[][] {
  const result: PatternPart[][] = [];
  let from = 0;
  for (const { index } of text.matchAll(dashBeforeWord)) {
    result.push(
      [{ text: text.slice(from, index) }],
      dashes.map((dash) => ({ text: dash })),
    );
    from = index + 1;
  }
  return [...result, [{ text: text.slice(from) }]];
}
