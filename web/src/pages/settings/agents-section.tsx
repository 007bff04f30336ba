import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { agentSettingsQuery, changeAgentSettings, type AgentSettings } from '../../api/access.ts';
import { sessionQuery } from '../../api/session.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as review } from '../../texts/review.ts';
import { texts as all } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { FormError, TextArea, TextField } from '../../ui/forms/field.tsx';
import { ToolPicker } from '../../ui/forms/name-pickers.tsx';
import { toasts } from '../../ui/overlays/toasts.tsx';
import { Loaded } from '../../ui/lists/rows.tsx';
import { SettingsSection } from './section.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

const texts = all.agents;

/** What agents may use: default tools, and data that is kept from models. */
export function AgentsSection() {
  const query = useQuery(agentSettingsQuery);
  return (
    <SettingsSection title={all.sections.agents} description={texts.description}>
      <Loaded query={query}>{(settings) => <AgentSettingsForm key={settings.updatedAt} settings={settings} />}</Loaded>
    </SettingsSection>
  );
}

const toLines = (names: readonly string[]): string => names.join('\n');
const toNames = (lines: string): string[] =>
  lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function AgentSettingsForm({ settings }: { settings: AgentSettings }) {
  const client = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  const [{ tools, datasets, fields, audit }, setValues, draft] = useDraft('agent settings', {
    tools: settings.defaultToolNames,
    datasets: toLines(settings.hiddenDatasets),
    fields: toLines(settings.hiddenFields),
    audit: String(settings.auditPercent),
  });
  const isReadOnly = !session?.scopes.includes('connections:admin');
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      changeAgentSettings(settings, {
        defaultToolNames: tools,
        hiddenDatasets: toNames(datasets),
        hiddenFields: toNames(fields),
        auditPercent: Number(audit),
      }),
    onSuccess: (changed) => {
      client.setQueryData(agentSettingsQuery.queryKey, changed);
      draft.forget();
      toasts.add({ title: texts.changed });
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      <fieldset disabled={isReadOnly} className="flex flex-col gap-4">
        <div>
          <label className="flex gap-2">
            <input
              type="checkbox"
              className="accent-accent"
              checked={tools !== null}
              onChange={({ target }) => setValues({ tools: target.checked ? [] : null })}
            />
            {texts.choose}
          </label>
          <p className="text-12 text-muted">{texts.toolsHint}</p>
          {tools !== null && (
            <fieldset>
              <legend className="sr-only">{texts.tools}</legend>
              <ToolPicker chosen={tools} onChange={(next) => setValues({ tools: next })} />
            </fieldset>
          )}
        </div>
        <TextArea
          label={texts.datasets}
          hint={texts.datasetsHint}
          className="font-mono"
          value={datasets}
          onChange={({ target }) => setValues({ datasets: target.value })}
        />
        <TextArea
          label={texts.fields}
          hint={texts.fieldsHint}
          className="font-mono"
          value={fields}
          onChange={({ target }) => setValues({ fields: target.value })}
        />
        <TextField
          label={review.dismissals.percent}
          hint={review.dismissals.percentHint}
          type="number"
          step="any"
          required
          value={audit}
          onChange={({ target }) => setValues({ audit: target.value })}
        />
      </fieldset>
      <FormError error={error} />
      <RestoredDraft draft={draft} />
      {!isReadOnly && (
        <Button type="submit" kind="primary" className="self-start" disabled={isPending}>
          {common.save}
        </Button>
      )}
    </form>
  );
}
