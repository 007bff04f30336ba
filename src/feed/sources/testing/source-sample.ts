import type { SourceKind } from '../../formats/registry.ts';
import type { SourceTest } from '../sources.schema.ts';

export type TestedSource = {
  kind: SourceKind;
  url: string;
  fileAllowed: boolean;
  /** The request headers of the credential. */
  headers: Record<string, string> | undefined;
};

export type SourceSample = Omit<SourceTest, 'kind' | 'url'>;

export const failedSample = (error: string): SourceSample => ({
  items: 0,
  indicators: 0,
  more: false,
  samples: [],
  skipped: [],
  error,
});
