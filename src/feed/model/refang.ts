const dots = /\[\s?(?:\.|dot)\s?\]|\(\s?(?:\.|dot)\s?\)|\{\s?(?:\.|dot)\s?\}|\\\.|\[\.|\.\]/gi;

/** Undoes the common ways of making an address harmless to click: `hxxp`, `[.]`, `(dot)`, `[:]`, `[@]`, `[://]`. */
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
