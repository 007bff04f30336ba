import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { addShippedAgent, shippedAgentsQuery, updateShippedAgent, type ShippedAgent } from '../../../api/agents.ts';
import { modelsQuery } from '../../../api/detection-parts.ts';
import { toWords } from '../../../lib/text.ts';
import { texts as all } from '../../../texts/agents.ts';
import { texts as common } from '../../../texts/common.ts';
import { Button } from '../../../ui/button.tsx';
import { FormError, SelectField } from '../../../ui/forms/field.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { severities, type Severity } from '../../../ui/labels/severity.tsx';
import { Row, Rows } from '../../../ui/lists/rows.tsx';
import { DialogActions } from '../../../ui/overlays/dialog.tsx';

const Dialog = lazy(async () => ({ default: (await import('../../../ui/overlays/dialog.tsx')).Dialog }));
const texts = all.shipped;

/** The agents that ship with the service and are not added yet, or have a newer version. Nothing without any. */
export function ShippedAgents() {
  const { data: shipped = [] } = useQuery(shippedAgentsQuery);
  const [adding, setAdding] = useState<ShippedAgent | null>(null);
  const offered = shipped.filter(({ added }) => added?.isCurrent !== true);
  if (offered.length === 0) return null;
  return (
    <div className="border-b px-4 py-3">
      <Rows label={texts.title}>
        {offered.map((agent) => (
          <Row
            key={agent.id}
            title={agent.name}
            detail={agent.added ? texts.newer : agent.description}
            actions={
              agent.added ? (
                <UpdateButton agent={agent} />
              ) : (
                <Button onClick={() => setAdding(agent)}>{texts.add(agent.name)}</Button>
              )
            }
          />
        ))}
      </Rows>
      <Suspense>{adding && <AddDialog agent={adding} onClose={() => setAdding(null)} />}</Suspense>
    </div>
  );
}

function UpdateButton({ agent }: { agent: ShippedAgent }) {
  const { mutate, isPending } = useChange({
    change: () => updateShippedAgent(agent.id),
    refresh: [['agents']],
    done: ({ changes, kept }) => texts.updated(changes.length, kept.length),
    failed: texts.notUpdated,
  });
  return (
    <Button disabled={isPending} onClick={() => mutate(undefined)}>
      {texts.update(agent.name)}
    </Button>
  );
}

/** Asks which model investigates, and which hits, since each of them costs calls. */
function AddDialog({ agent, onClose }: { agent: ShippedAgent; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: models } = useQuery(modelsQuery);
  const [alias, setAlias] = useState('default');
  const [severity, setSeverity] = useState<Severity>('medium');
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => addShippedAgent(agent.id, { modelAlias: alias, filter: { severity } }),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: ['agents'] });
      void navigate({ to: '/agents/$id', params: { id } });
    },
  });
  const aliases = [...new Set(['default', ...(models?.map((model) => model.alias) ?? [])])];
  return (
    <Dialog title={texts.add(agent.name)} description={texts.costs} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <SelectField
          label={all.figures.model}
          value={alias}
          options={aliases.map((value) => ({ value, label: value }))}
          onChange={({ target }) => setAlias(target.value)}
        />
        <SelectField
          label={all.trigger.severity}
          value={severity}
          options={severities.map((value) => ({ value, label: toWords(value) }))}
          onChange={({ target }) => setSeverity(target.value as Severity)}
        />
        <FormError error={error} />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" kind="primary" disabled={isPending}>
            {texts.add(agent.name)}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
