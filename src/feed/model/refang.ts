const dots = /\[\s?(?:\.|dot)\s?\]|\(\s?(?:\.|dot)\s?\)|\{\s?(?:\.|dot)\s?\}|\\\.|\[\.|\.\]/gi;

/** Every defanged address has one of these signs, or begins like this. */
const marks = /[[\]({\\]|^(?!http)[HhFf][TtXx*]/;

/** Reverses the common notations of defanged addresses: `hxxp`, `[.]`, `(dot)`, `[:]`, `[@]`, `[://]`. */
export function refang(text: string): string {
  const trimmed = text.trim();
  if (!marks.test(trimmed)) return trimmed;
  return trimmed
    .replace(/^h(?:xx|\*\*|tt)p(s?)(?=[:[\]])/i, 'http$1')
    .replace(/^fxp(?=[:[\]])/i, 'ftp')
    .replaceAll(/\[:\/\/\]|\[:\]\/\//g, '://')
    .replaceAll(/\[:\]/g, ':')
    .replaceAll(/\[@\]|\[at\]|\(at\)/gi, '@')
    .replaceAll(/\[\/\]/g, '/')
    .replaceAll(dots, '.');
}
