/** What a file of a report says. `text` is its prose, `publishTime` an RFC 3339 time or a date alone. */
export type ReportFile = { text: string; title?: string; publishTime?: string };
