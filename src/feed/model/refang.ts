const dots = /\[\s?(?:\.|dot)\s?\]|\(\s?(?:\.|dot)\s?\)|\{\s?(?:\.|dot)\s?\}|\\\.|\[\.|\.\]/gi;

/** Reverses the common notations of defanged addresses: `hxxp`, `[.]`, `(dot)`, `[:]`, `[@]`, `[://]`. */
export function refang(text: string): string {
  return text
    .trim()
    .replace(/^h(?:xx|\*\*|tt)p(s?)(?=[:[\]])/i, 'http$1')
    .replace(/^fxp(?=[:[\]])/i, 'ftp')
    .replaceAll(/\[:\/\/\]|\[:\]\/\//g, '://')
    .replaceAll(/\[:\]/g, ':')
    .replaceAll(/\[@\]|\[at\]|\(at\)/gi, '@')
    .replaceAll(/\[\/\]/g, '/')
    .replaceAll(dots, '.');
}
