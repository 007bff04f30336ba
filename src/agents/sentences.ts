/** Splits a text into sentences and removes list markers, whose numbers are not claims. */
export function splitSentences(text: string): string[] {
  return text
    .split(/\r?\n+/)
    .map((line) => line.replace(/^\s*(?:\d{1,2}[.)]|[-*•])\s+/, ''))
    .flatMap((line) => line.split(/(?<=[.!?]["'»)]?)\s+(?=["'«(`]?[\p{Lu}\d])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
