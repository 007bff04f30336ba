/** The words by which reports in a language are read. Each line of terms is a key and a pattern; `~` stands for further letters of a word. */
export type ReportLanguage = {
  /** The most common function words. Absent if `detectLanguage` recognizes the language by its script. */
  functionWords?: string;
  /** Words stand without spaces between them, so that a pattern also matches inside of one. */
  isUnspaced?: true;
  /** English phrases that the rules of severity know, with the terms for them. Earlier lines win, so phrases stand before their words. */
  severityTerms?: string;
  /**
   * Techniques with their plain statements; `…` stands for some words. `exploited` states the exploitation of a flaw, `doubt` that it is open,
   * and `advice` advises readers. `denial` are words before a statement that deny it, and `denied` words after it.
   */
  techniqueTerms: string;
};
