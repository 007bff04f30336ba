import type { SkippedEntry, SourceRecord, UnreadText, PredictionList } from '../model/source-record.ts';
import type { ReferenceLists } from '../extraction/extract-item.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { SightingsTarget } from './send-sightings.ts';
import type { DigestInput, FetchSession, FetchSessionResult, SourceDocument } from './fetch-session.ts';

/** The parsed documents of a source. */
export type ParseResult = {
  records: SourceRecord[];
  /** Texts that become records once they are extracted. */
  texts?: UnreadText[];
  /** Probabilities that CVEs are exploited. They become no items. */
  predictions?: PredictionList;
  /** Ids of records whose text could not be extracted in time. */
  late?: string[];
  skipped: SkippedEntry[];
  /** The number of records that were not fetched because the source reports them as unchanged. */
  unchanged?: number;
  /** Set if the document is a complete catalog: a row that is absent from it has been removed. */
  catalog?: { declared: number; rows: number; released: string };
};

/** A record that is built later, because building all of a large document at the same time takes much memory. */
export type RecordDraft = {
  recordId: string;
  publishTime: string | undefined;
  /** Replaces a publish time that is not believable. */
  modifiedAt?: string | undefined;
  build: () => SourceRecord;
};

export type DraftResult = Omit<ParseResult, 'records'> & { drafts: RecordDraft[] };

/** Facts that a parser needs besides the document: the source's reliability (0 to 1) and name, the time of the pull, and the installed reference data. */
export type ParseContext = {
  reliability: number;
  sourceName?: string | undefined;
  now?: Date;
  lists?: ReferenceLists | undefined;
};

export type SourceFormat = {
  label: string;
  /** Set if the records are prose rather than structured fields. Only prose is compared by its wording. */
  isText?: true;
  /** Words by which full-text search finds all items of the format, such as `known exploited vulnerability`. */
  searchWords?: string;
  /** The media types of the document at the source's address, as an Accept header. */
  accept?: string;
  /** Fetches a source that consists of several documents. Without it, or if it returns or resolves with undefined, the address is a single document. */
  fetch?: (session: FetchSession) => Promise<FetchSessionResult | undefined> | undefined;
  /** Extracts what `fetch` needs from documents that it fetched. Pure, because large documents are parsed in a thread. Throws an Error whose message is safe to show. */
  digest?: (documents: DigestInput[]) => unknown;
  /** The file names to read from a directory and its subdirectories. Defaults to `.json` and `.json.gz`. */
  files?: RegExp;
  /** Pure. Throws an Error whose message says why the document as a whole is unusable. */
  parse: (parts: SourceDocument[], context: ParseContext) => ParseResult;
  /** Like `parse`, but leaves it to the caller to build the records. */
  draft?: (parts: SourceDocument[], context: ParseContext) => DraftResult;
  /** Set if sources of the kind accept sightings. */
  sightings?: SightingsTarget;
  defaults: {
    publisher?: string;
    tlp?: Tlp;
    license?: string;
    language?: string;
    reliability: number;
    schedule: string;
  };
};
