import type { Span } from '../../text/stored-text.ts';
import type { NameKind } from '../dictionary/name-dictionary.ts';

/**
 * A name that a text introduces, whether or not a list has it. `isStated`: the text says what it is, rather than only using it beside a noun.
 * `isCommon`: a common word, which is a name only if a list has it. `isScheme`: the name follows a publisher's naming scheme.
 */
export type NewName = {
  kind: NameKind;
  name: string;
  span: Span;
  isStated: boolean;
  isCommon?: boolean;
  isScheme?: boolean;
};

/** Reports a name at a place of the searched text. Without a kind, it is a candidate that is no name. */
export type AddName = (
  kind: NewName['kind'] | undefined,
  printed: string,
  start: number,
  options?: { isStated?: boolean; isCommon?: boolean; isScheme?: boolean },
) => void;
