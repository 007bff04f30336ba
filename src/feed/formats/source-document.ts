/** One document of a source. */
export type SourceDocument = {
  name: string;
  bytes: Buffer;
  /** The address it was fetched from, if that is not the source's own address. */
  url?: string;
  contentType?: string | undefined;
  /** When the document last changed, as ISO text, if its server reports that. */
  modified?: string | undefined;
  /** Set for a document that an index lists. If it cannot be parsed it is skipped, even when it is the only document of the pull. */
  isListed?: true;
  /** The entry of the index for the document, passed from the format's `fetch` to its `parse`. */
  entry?: unknown;
};
