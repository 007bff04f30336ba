import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { sessionQuery } from '../../api/session.ts';
import { texts } from '../../texts/common.ts';

const prefix = 'tocsin.draft ';
const keptMs = 30 * 86_400_000;

/** What was typed into a form, kept in this browser until it is saved or thrown away. */
export type Draft = {
  /** Whether the form began with what was typed earlier. */
  isRestored: boolean;
  /** Ends the draft and leaves the form as it is, because it was saved. */
  forget: () => void;
  /** Ends the draft and empties the form, or returns it to what is stored. */
  reset: () => void;
};

type State<Values> = { id: string; base: Values; values: Values; isRestored: boolean };
type Change<Values> = (next: Partial<Values> | ((values: Values) => Partial<Values>)) => void;

/**
 * Returns the values of a form like `useState`, with a function that changes some of them, and their draft. Every change is kept in this browser
 * under the key, for the person who is signed in, so that it survives leaving the page, a reload and the end of the session. Only the values that
 * differ from `initial` are kept: what others changed meanwhile in the rest of a record appears in the form. Values in `secrets` are never kept.
 */
export function useDraft<Values extends object>(
  key: string,
  initial: Values,
  secrets: readonly (keyof Values)[] = [],
): readonly [Values, Change<Values>, Draft] {
  const client = useQueryClient();
  // Somebody who signs in again, as whomever, finds the form as it was.
  const [owner] = useState(() => {
    const session = client.getQueryData(sessionQuery.queryKey);
    return `${session?.organization.id} ${session?.personId ?? session?.subject}`;
  });
  const id = `${prefix}${owner} ${key}`;
  const [stored, setState] = useState(() => restore(id, initial));
  // A form that shows another record without leaving the page begins again.
  const state = stored.id === id ? stored : restore(id, initial);
  if (state !== stored) setState(state);
  const { base, values, isRestored } = state;
  useEffect(() => {
    const kept = listChanges(values, base, secrets);
    if (kept === undefined) localStorage.removeItem(id);
    else write(id, kept);
    // `secrets` is the same in every rendering of a form.
  }, [id, base, values]);
  const end = (part: 'values' | 'base'): void => {
    // The form may be gone when its request succeeds.
    localStorage.removeItem(id);
    setState((old) => ({ ...old, base: old[part], values: old[part], isRestored: false }));
  };
  return [
    values,
    (next) =>
      setState((old) => ({
        ...old,
        values: { ...old.values, ...(typeof next === 'function' ? next(old.values) : next) },
      })),
    { isRestored, forget: () => end('values'), reset: () => end('base') },
  ];
}

/** Returns the values that are to be kept, or undefined if none differs. */
function listChanges<Values extends object>(
  values: Values,
  base: Values,
  secrets: readonly (keyof Values)[] = [],
): Partial<Values> | undefined {
  const changed = (Object.keys(values) as (keyof Values)[]).filter(
    (name) => !secrets.includes(name) && JSON.stringify(values[name]) !== JSON.stringify(base[name]),
  );
  return changed.length === 0
    ? undefined
    : (Object.fromEntries(changed.map((name) => [name, values[name]])) as Partial<Values>);
}

/** Returns the state of a form that begins: its initial values, and over them what was typed earlier. */
function restore<Values extends object>(id: string, initial: Values): State<Values> {
  const values = { ...initial, ...readKept(id, initial) };
  return { id, base: initial, values, isRestored: listChanges(values, initial) !== undefined };
}

/** Returns the kept values that still fit the form, which may have changed since. */
function readKept<Values extends object>(id: string, initial: Values): Partial<Values> {
  try {
    const { values } = JSON.parse(localStorage.getItem(id) ?? '{}') as { values?: Record<string, unknown> };
    const kept = Object.entries(values ?? {}).filter(
      ([name, value]) => Object.hasOwn(initial, name) && fits(value, initial[name as keyof Values]),
    );
    return Object.fromEntries(kept) as Partial<Values>;
  } catch {
    return {};
  }
}

const fits = (value: unknown, initial: unknown): boolean =>
  value === null || initial === null || initial === undefined
    ? initial === null || initial === undefined
    : typeof value === typeof initial && Array.isArray(value) === Array.isArray(initial);

function write(id: string, values: object): void {
  try {
    localStorage.setItem(id, JSON.stringify({ at: Date.now(), values }));
  } catch {
    // A text that is larger than the browser's storage lasts as long as its form.
  }
}

/** Forgets what was typed more than 30 days ago, and with `everything`, all of it. */
export function forgetDrafts({ everything = false } = {}): void {
  for (const id of Object.keys(localStorage)) {
    if (!id.startsWith(prefix)) continue;
    const { at = 0 } = JSON.parse(localStorage.getItem(id) ?? '{}') as { at?: number };
    if (everything || at < Date.now() - keptMs) localStorage.removeItem(id);
  }
}

/** Says in a form that it goes on with what was typed earlier, and offers to begin again. */
export function RestoredDraft({ draft: { isRestored, reset } }: { draft: Draft }) {
  if (!isRestored) return null;
  return (
    <p role="status" className="flex flex-wrap items-center gap-x-2 text-12 text-muted">
      {texts.draft.restored}
      <button
        type="button"
        className="text-accent hover:underline"
        onClick={({ currentTarget }) => {
          const { form } = currentTarget;
          reset();
          form?.querySelector<HTMLElement>('input, textarea, select')?.focus();
        }}
      >
        {texts.draft.startOver}
      </button>
    </p>
  );
}
