/**
 * What a file of a report says. `text` is its prose, `publishTime` an RFC 3339 time or a date alone. `unread` has the names of attached files that
 * could not be read, each with the reason. Images are not among them.
 */
export type ReportFile = { text: string; title?: string; publishTime?: string; unread?: string[] };
