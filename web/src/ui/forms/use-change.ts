import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query';
import { toasts } from '../overlays/toasts.tsx';

type Options<Input, Output> = {
  change: (input: Input) => Promise<Output>;
  /** The queries that the change makes stale. */
  refresh: readonly QueryKey[];
  /** The message after the change. No message without it. */
  done?: (output: Output, input: Input) => Omit<Parameters<typeof toasts.add>[0], 'isError'> | string;
  failed: string;
};

/** Returns a mutation that shows its outcome in a message: the change, or the reason why it failed. */
export function useChange<Input, Output>({ change, refresh, done, failed }: Options<Input, Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (output, input) => {
      const message = done?.(output, input);
      if (message !== undefined) toasts.add(typeof message === 'string' ? { title: message } : message);
      return Promise.all(refresh.map((queryKey) => client.invalidateQueries({ queryKey })));
    },
    onError: ({ message }) => toasts.add({ title: failed, description: message, isError: true }),
  });
}
