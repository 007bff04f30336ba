import type { z } from 'zod';
import type { Enrichment } from '../../platform/enrichment/enrich.ts';
import type { ModelTool, ResultSource, ToolEffect } from '../../platform/models/model-request.ts';
import type { Facts, RenderedRow } from '../analysis/candidate.ts';
import type { QueryRow, SiemConnection, TimeBounds } from '../siem/connector.ts';
import type { HiddenData } from '../siem/hidden-data.ts';
import type { ToolResult } from './tool-result.ts';

/** Everything that is asked of a built-in tool. Calls share nothing, so those of one step can run side by side. */
export type ToolDefinition<Input = unknown> = {
  /** Written for a language model, and shown to people. */
  description: string;
  /** The name that an earlier version gave to the tool, which still works. */
  alias?: string;
  input: z.ZodType<Input>;
  effect: ToolEffect;
  /** `get_rows` returns the rows of the case, which have rules of their own, so it adds nothing from outside. */
  source: ResultSource;
  /** Its results may contain rows of any entity, so a detection with this tool is no longer limited to one entity. */
  seesOtherEntities: boolean;
  /** Returns the problem with the URL that the grant of an administrator must set, or undefined. Null if a grant sets no URL. */
  findUrlProblem: ((url: string) => string | undefined) | null;
  // Declared as a method, so that definitions with different inputs fit into one registry.
  run(input: Input, sources: ToolSources, signal: AbortSignal): Promise<ToolResult>;
};

/** Returns the tool. Infers the type of the input from its schema. */
export const defineTool = <Input>(tool: ToolDefinition<Input>): ToolDefinition => tool;

/** A tool that is bound to one entity. `earlier` are the results that the investigation has so far. */
/** What an investigation was shown before. */
export type FoundRows = Pick<ToolResult, 'columns' | 'rows'>;

export type BoundTool = Omit<ModelTool, 'run'> & {
  /** An administrator granted the tool and vouches for its results, so that they can prove something. */
  isTrusted: boolean;
  run: (input: unknown, signal: AbortSignal, earlier?: readonly FoundRows[]) => Promise<ToolResult>;
};

/** What an administrator grants to a detection with a tool that sends data. */
export type ToolGrantSettings = {
  /** The URL template of `http_get`. */
  url?: string | undefined;
  isTrusted: boolean;
  /** The model may send values of its own, and not only those that it was shown. */
  allowsFreeArguments: boolean;
};

export type RecordRow = Readonly<Record<string, unknown>> & { id: string };

/** The logs of a detection. */
export type LogSource = {
  connection: SiemConnection;
  /** The end of the candidate's window, where a search ends unless it says otherwise. */
  windowTo: Date;
  /** Later events are not there yet. */
  now: Date;
  render: (row: QueryRow, window: TimeBounds & { aggregate: boolean }) => RenderedRow;
};

/** A skill as the tool that reads it sees it. Files without text cannot be read. */
export type SkillText = {
  name: string;
  version: number;
  description: string;
  body: string;
  files: readonly { path: string; text?: string | undefined }[];
};

/** The functions that tools call. Each is bound to one entity and its organization, so tools themselves have no access to either. */
export type ToolSources = {
  entity: string;
  rows: RenderedRow[];
  facts: Facts;
  /** Data that the organization keeps from models. */
  hidden: HiddenData;
  logs: LogSource;
  /** Returns what the organization knows of an entity: notes, lists, hits, and values that the detection remembers. */
  profile: (entity: string, limit: number) => Promise<RecordRow[]>;
  /** Returns hits of other entities or detections whose rows contain one of the values, latest first. */
  relatedHits: (values: readonly string[], since: Date, limit: number) => Promise<RecordRow[]>;
  /** Returns the skills that the detection names. */
  skills: () => Promise<SkillText[]>;
  searchFeed: (text: string, limit: number) => Promise<unknown>;
  lookupIndicator: (value: string) => Promise<unknown>;
  lookupTechnique: (id: string) => unknown;
  /** Returns what the enrichers of the organization know of values. */
  lookUpValues: (values: readonly string[], signal: AbortSignal) => Promise<Enrichment[]>;
  /** The grant of an administrator for this tool, if there is one. */
  grant: ToolGrantSettings | undefined;
  /** Values that may leave the house: those of the candidate and of earlier results. */
  known: ReadonlySet<string>;
  fetchText: (url: string, signal: AbortSignal) => Promise<string>;
  /** Proposes a call to a person, with the reason. Returns what the model is told. */
  propose: (tool: string, input: unknown, reason: string) => Promise<string>;
};

/**
 * The feed's functions for tools and judges, bound to one organization. `findKnownIndicators` returns those of the values that feed
 * items mention, each with the titles of the items, and whether it is an active indicator.
 */
export type FeedTools = Pick<ToolSources, 'searchFeed' | 'lookupIndicator' | 'lookupTechnique'> & {
  findKnownIndicators: (
    values: string[],
  ) => Promise<{ indicator: string; isActive: boolean; items: { id: string; title: string }[] }[]>;
};
