/** Cuts a text into sentences, and drops the marks of lists, which are no claims. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/\r?\n+/)
    .map((line) => line.replace(/^\s*(?:\d{1,2}[.)]|[-*•])\s+/, ''))
    .flatMap((line) => line.split(/(?<=[.!?]["'»)]?)\s+(?=["'«(`]?[\p{Lu}\d])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
