const dot = String.raw`(?:\.|dot|punto|ponto|punkt|point)`;
const dots = new RegExp(
  String.raw`\s?(?:\[\s?${dot}\s?\]|\(\s?${dot}\s?\)|\{\s?${dot}\s?\}|<\s?${dot}\s?>)\s?|\\\.|\[\.|\.\]|&(?:#0*46|#x0*2e|period);|[\u2024\u3002\uFF0E]`,
  'gi',
);
const invisible = /[\u00AD\u200B-\u200D\u2060\uFEFF]/g;
/** A value in which every dot is written as a word. */
const spelledHost = /^[\w:/-]+(?: dot [\w-]+)+(?:[/:]\S*)?$/i;

/** Every defanged address has one of these signs, or begins like this. */
const marks = /[[\]({\\<&\u00AD\u200B-\u200D\u2024\u2060\u3002\uFEFF\uFF0E]| [Dd][Oo][Tt] |^(?!http)[HhFf][TtXx*]/;

/** Reverses the common notations of defanged addresses: `hxxp`, `[.]`, `(dot)`, ` dot `, `&#46;`, `[:]`, `[@]`, `[://]`. */
export function refang(text: string): string {
  const trimmed = text.trim();
  if (!marks.test(trimmed)) return trimmed;
  const plain = trimmed.replaceAll(invisible, '');
  return (spelledHost.test(plain) ? plain.replaceAll(/ dot /gi, '.') : plain)
    .replace(/^h(?:xx|\*\*|tt)p(s?)(?=[:[\]&])/i, 'http$1')
    .replace(/^fxp(?=[:[\]])/i, 'ftp')
    .replaceAll(/\[:\/\/\]|\[:\]\/\//g, '://')
    .replaceAll(/\[:\]|&(?:#0*58|#x0*3a|colon);(?=\/|&)/gi, ':')
    .replaceAll(/\[@\]|\[at\]|\(at\)/gi, '@')
    .replaceAll(/\[\/\]|&(?:#0*47|#x0*2f|sol);/gi, '/')
    .replaceAll(dots, '.');
}
