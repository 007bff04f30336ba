const readMaxChars = 20_000;
/** Any text without these characters is plain. */
const marks = /[#*_`[<|=]|---|\(Citation/;
const tags =
  /<\/?(?:code|pre|p|br|b|i|u|em|strong|ul|ol|li|a|h[1-6]|div|span|table|tr|td|th|tbody|thead)(?:\s[^<>]{0,300})?\/?>/gi;

/**
 * Returns the beginning of a text without the marks of Markdown and HTML, for a summary: headings, rules, emphasis, links (whose text stays),
 * images, and the citations of ATT&CK. Returns the text itself if nothing else remains.
 */
export function toPlainText(text: string): string {
  const head = text.slice(0, readMaxChars);
  if (!marks.test(head)) return text;
  const plain = head
    .replaceAll(tags, ' ')
    .replaceAll(/^[ \t]*(?:#{1,6}[ \t].*|[-=*_|: \t]{3,}|_-=.*=-_|```.*)$/gm, '')
    .replaceAll(/\(Citation: [^()]{1,200}\)/g, '')
    .replaceAll(/!\[[^\]]{0,300}\]\([^()\s]{0,2000}\)/g, '')
    .replaceAll(/\[([^\]]{1,300})\]\([^()\s]{1,2000}\)/g, '$1')
    .replaceAll(/^[ \t]*(?:[-*+]|\d{1,3}\.)[ \t]+/gm, '')
    .replaceAll(/\*\*(\S[^*\n]*\S|\S)\*\*/g, '$1')
    .replaceAll(/(?<![*\w])\*(\w(?:[^*\n]{0,200}\w)?)\*(?![*\w])/g, '$1')
    .replaceAll(/`([^`\n]+)`/g, '$1')
    .trim();
  return plain === '' ? text : plain;
}
