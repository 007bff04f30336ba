import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { changeRuleSource, checkRuleSource, deleteRuleSource, type RuleSource } from '../../../api/rule-sources.ts';
import { texts } from '../../../texts/rule-sources.ts';
import { Button } from '../../../ui/button.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { toasts } from '../../../ui/overlays/toasts.tsx';

const ConfirmDialog = lazy(() => import('../../../ui/overlays/confirm-dialog.tsx'));

type Props = { source: RuleSource; onEdit: () => void; onDelete: () => void };

export function RuleSourceActions({ source, onEdit, onDelete }: Props) {
  const client = useQueryClient();
  const [isSure, setIsSure] = useState(false);
  const { id, name, enabled, rules } = source;
  const refresh = [['rule-sources']];
  const check = useChange({
    change: () => checkRuleSource(id),
    refresh,
    done: ({ failure, available }) => {
      if (failure !== null) return { title: texts.checkFailed, description: failure };
      return available === source.available ? texts.checkedCurrent : texts.checkedNew;
    },
    failed: texts.checkFailed,
  });
  const enable = useChange({
    change: () => changeRuleSource(source, { enabled: !enabled }),
    refresh,
    failed: texts.notChanged,
  });
  const remove = async (): Promise<void> => {
    await deleteRuleSource(source);
    toasts.add({ title: texts.removed, description: name });
    onDelete();
    await client.invalidateQueries({ queryKey: ['rule-sources'] });
  };
  return (
    <div className="flex flex-wrap gap-1.5">
      <Button disabled={check.isPending} onClick={() => check.mutate(undefined)}>
        {check.isPending ? texts.checking : texts.check}
      </Button>
      <Button disabled={enable.isPending} onClick={() => enable.mutate(undefined)}>
        {enabled ? texts.disable : texts.enable}
      </Button>
      <Button onClick={onEdit}>{texts.edit}</Button>
      <Button kind="quiet" onClick={() => setIsSure(true)}>
        {texts.remove}
      </Button>
      <Suspense>
        {isSure && (
          <ConfirmDialog
            title={texts.removeTitle(name)}
            action={texts.remove}
            onConfirm={remove}
            onClose={() => setIsSure(false)}
          >
            {texts.removeBody(rules)}
          </ConfirmDialog>
        )}
      </Suspense>
    </div>
  );
}
