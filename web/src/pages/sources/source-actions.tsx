import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeSource, deleteSource, pullSource, type Source } from '../../api/sources.ts';
import { useFocusReturn } from '../../lib/focus-return.ts';
import { texts } from '../../texts/sources.ts';
import { Button } from '../../ui/button.tsx';
import { toasts } from '../../ui/overlays/toasts.tsx';

type Props = { source: Source; onEdit: () => void; onDelete: () => void };

/** The actions for a source. Sources of other organizations can only be read. */
export function SourceActions({ source, onEdit, onDelete }: Props) {
  const client = useQueryClient();
  const [isSure, setIsSure] = useState(false);
  const { id, name, enabled } = source;
  const refresh = () => client.invalidateQueries({ queryKey: ['sources', 'list'] });
  const fail = (error: Error): void =>
    toasts.add({ title: texts.notChanged, description: error.message, isError: true });
  const pull = useMutation({
    mutationFn: () => pullSource(id),
    onSuccess: (outcome) =>
      toasts.add(
        outcome.error === undefined
          ? { title: texts.pulled, description: texts.outcome(outcome) }
          : { title: texts.pullFailed, description: outcome.error, isError: true },
      ),
    onError: (error) => toasts.add({ title: texts.pullFailed, description: error.message, isError: true }),
    onSettled: () => Promise.all([refresh(), client.invalidateQueries({ queryKey: ['feed'] })]),
  });
  const enable = useMutation({
    mutationFn: () => changeSource(source, { enabled: !enabled }),
    onError: fail,
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: () => deleteSource(id),
    onError: fail,
    onSuccess: () => {
      toasts.add({ title: texts.removed, description: name });
      onDelete();
      return refresh();
    },
  });
  if (!source.own) return null;
  if (isSure)
    return (
      <RemovalQuestion
        isPending={remove.isPending}
        onRemove={() => remove.mutate()}
        onCancel={() => setIsSure(false)}
      />
    );
  return (
    <div className="flex flex-wrap gap-1.5">
      <Button disabled={pull.isPending} onClick={() => pull.mutate()}>
        {pull.isPending ? texts.pulling : texts.pull}
      </Button>
      <Button disabled={enable.isPending} onClick={() => enable.mutate()}>
        {enabled ? texts.disable : texts.enable}
      </Button>
      <Button onClick={onEdit}>{texts.edit}</Button>
      <Button kind="quiet" onClick={() => setIsSure(true)}>
        {texts.remove}
      </Button>
    </div>
  );
}

type QuestionProps = { isPending: boolean; onRemove: () => void; onCancel: () => void };

/** Stands in for the other actions, and takes the focus. */
function RemovalQuestion({ isPending, onRemove, onCancel }: QuestionProps) {
  useFocusReturn();
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span>{texts.removeSure}</span>
      <Button kind="danger" autoFocus disabled={isPending} onClick={onRemove}>
        {texts.remove}
      </Button>
      <Button kind="quiet" onClick={onCancel}>
        {texts.cancel}
      </Button>
    </div>
  );
}
