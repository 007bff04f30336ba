import { findTaggedName } from '../../../extraction/names/dictionary/tagged-name.ts';

const comment = /^\s*(?:#|;|\/\/|!)/;
const mark = /^[\s#;/!*=-]+/;
/** Words without a dot. Values have one, or are digests. */
const words = /^[\p{L}\p{N}][\p{L}\p{N} &+()'/-]{2,58}:?$/u;
const headingMaxChars = 80;
const digest = /^[0-9a-f]{32,}$/i;
const contents =
  /(?:\s+(?:malware|samples?|payloads?|hash(?:es)?|files?|c2s?|c&c|servers?|domains?|hosts?|ips?|urls?|iocs?|indicators?|list))+$/i;

/**
 * Returns the rows of a plain list in which lines or comments between the values name the malware, actor or tool of what follows, such as
 * `## MagicRAT`: each value, followed by the name if there is one. Returns undefined if no line does.
 */
export function readNamedRows(lines: string[]): string[][] | undefined {
  const rows: string[][] = [];
  let [name, isAnyNamed] = ['', false];
  for (const line of lines) {
    const text = line.trim();
    const isComment = comment.test(line);
    if (text === '') continue;
    if (isComment || (words.test(text) && !digest.test(text))) {
      // Longer lines are not names, and the patterns take quadratic time.
      const heading =
        text.length > headingMaxChars ? '' : text.replace(mark, '').replace(/:$/, '').replace(contents, '');
      name = findTaggedName(heading) ? heading : '';
      isAnyNamed ||= name !== '';
      if (isComment || name !== '') continue;
    }
    rows.push(name === '' ? [text] : [text, name]);
  }
  return isAnyNamed ? rows : undefined;
}
