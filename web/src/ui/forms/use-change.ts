import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query';
import { isSignedOut } from '../../api/problem.ts';
import { toasts } from '../overlays/toasts.tsx';
import type { Draft } from './use-draft.tsx';

type Options<Input, Output> = {
  change: (input: Input) => Promise<Output>;
  /** The queries that the change makes stale. */
  refresh: readonly QueryKey[];
  /** The message after the change. No message without it. */
  done?: (output: Output, input: Input) => Omit<Parameters<typeof toasts.add>[0], 'isError'> | string;
  /** What a message says if it fails. Without it, the form shows the reason itself. */
  failed?: string;
  /** What was typed for it, which ends when it is saved. */
  draft?: Draft;
};

/** Returns a mutation that shows its outcome in a message: the change, or the reason why it failed. */
export function useChange<Input, Output>({ change, refresh, done, failed, draft }: Options<Input, Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (output, input) => {
      draft?.reset();
      const message = done?.(output, input);
      if (message !== undefined) toasts.add(typeof message === 'string' ? { title: message } : message);
      return Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey })));
    },
    onError: (error) => {
      // The question to sign in again says it.
      if (failed !== undefined && !isSignedOut(error))
        toasts.add({ title: failed, description: error.message, isError: true });
    },
  });
}
