import { ofRansomware } from './new-name-patterns.ts';
import { isTitled } from './usable-names.ts';

const repeatedMax = 200;

/**
 * Returns a check for several common words that the text twice uses as the name of ransomware: `the Foo Bar ransomware gang`. It answers for
 * the first 200 of them.
 */
export function createRepeatCheck(text: string): (printed: string) => boolean {
  const known = new Map<string, boolean>();
  return (printed) => {
    let isRepeated = known.get(printed);
    if (isRepeated === undefined && known.size < repeatedMax)
      known.set(printed, (isRepeated = isTitled(printed) && countRansomwareUses(text, printed) > 1));
    return isRepeated === true;
  };
}

/** Counts up to two uses of a name for ransomware. */
function countRansomwareUses(text: string, printed: string): number {
  let uses = 0;
  for (let at = text.indexOf(printed); at >= 0 && uses < 2; at = text.indexOf(printed, at + printed.length))
    if (ofRansomware.test(text.slice(at + printed.length, at + printed.length + 40))) uses += 1;
  return uses;
}
