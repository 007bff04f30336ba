/** Quotes a field (RFC 4180). A field that a spreadsheet would evaluate as a formula gets a leading apostrophe, as in the exports of the API. */
function toField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Saves rows of text as a CSV file. */
export function downloadCsv(fileName: string, rows: readonly (readonly string[])[]): void {
  downloadText(fileName, rows.map((row) => `${row.map(toField).join(',')}\r\n`).join(''), 'text/csv');
}

/** Saves a text as a file. */
export function downloadText(fileName: string, text: string, type = 'text/plain'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = fileName;
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
