import { useQuery } from '@tanstack/react-query';
import { modelsQuery } from '../../../api/detection-parts.ts';
import { texts } from '../../../texts/editor.ts';
import { Field, SelectInput, TextArea, TextInput } from '../../../ui/forms/form.tsx';
import { SkillPicker, ToolPicker } from '../../../ui/forms/name-pickers.tsx';
import { Section } from '../../../ui/section.tsx';
import { DocumentFields } from './document-fields.tsx';
import type { FormProps } from './draft.ts';
import { InputFields } from './input-fields.tsx';

const { fields, hints, sections, planning, modes } = texts;

/** Who judges or investigates, with what, and what it is told. */
export function JudgeFields(form: FormProps) {
  const { draft, isAgent, onChange, problemOf } = form;
  return (
    <Section isForm level={2} title={isAgent ? sections.investigate : sections.judge}>
      <Field
        label={fields.systemPrompt}
        hint={isAgent ? hints.agentPrompt : hints.systemPrompt}
        error={problemOf('systemPrompt')}
      >
        {(control) => (
          <TextArea
            {...control}
            value={draft.systemPrompt}
            onChange={(event) => onChange({ systemPrompt: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-4 md:grid-cols-2">
        {!isAgent && (
          <Field label={fields.headline} hint={hints.headline} error={problemOf('headline')}>
            {(control) => (
              <TextInput
                {...control}
                value={draft.headline}
                onChange={(event) => onChange({ headline: event.target.value })}
              />
            )}
          </Field>
        )}
        <ModelField {...form} />
        {isAgent && (
          <Field label={fields.mode} hint={hints.mode} error={problemOf('mode')}>
            {(control) => (
              <SelectInput
                {...control}
                value={draft.mode}
                onChange={({ target }) => onChange({ mode: target.value as typeof draft.mode })}
              >
                {(['standard', 'sandbox'] as const).map((mode) => (
                  <option key={mode} value={mode}>
                    {modes[mode]}
                  </option>
                ))}
              </SelectInput>
            )}
          </Field>
        )}
        <Field label={fields.planningMode} hint={hints.planningMode} error={problemOf('planningMode')}>
          {(control) => (
            <SelectInput
              {...control}
              value={draft.planningMode}
              onChange={({ target }) => onChange({ planningMode: target.value as typeof draft.planningMode })}
            >
              {(['auto', 'always', 'never'] as const).map((mode) => (
                <option key={mode} value={mode}>
                  {planning[mode]}
                </option>
              ))}
            </SelectInput>
          )}
        </Field>
      </div>
      <details>
        <summary className="text-12 text-muted hover:text-ink">
          {fields.tools} {draft.toolNames.length > 0 && `(${draft.toolNames.join(', ')})`}
        </summary>
        <ToolPicker chosen={draft.toolNames} onChange={(toolNames) => onChange({ toolNames })} />
      </details>
      <details>
        <summary className="text-12 text-muted hover:text-ink">
          {fields.skills} {draft.skills.length > 0 && `(${draft.skills.join(', ')})`}
          {problemOf('skills') && <span className="block text-bad">{problemOf('skills')}</span>}
        </summary>
        <SkillPicker chosen={draft.skills} onChange={(skills) => onChange({ skills })} />
      </details>
      <DocumentFields {...form} />
      <InputFields {...form} />
    </Section>
  );
}

function ModelField({ draft, isAgent, onChange, problemOf }: FormProps) {
  const { data: models } = useQuery(modelsQuery);
  const chosen = models?.find(({ alias }) => alias === (draft.modelAlias || models[0]?.alias));
  const hint = isAgent && chosen?.model === 'analyst' ? hints.needsModel : undefined;
  const aliases = [...new Set([...(models?.map(({ alias }) => alias) ?? []), draft.modelAlias])].filter(Boolean);
  return (
    <Field label={fields.modelAlias} hint={hint} error={problemOf('modelAlias')}>
      {(control) => (
        <SelectInput
          {...control}
          value={draft.modelAlias}
          onChange={(event) => onChange({ modelAlias: event.target.value })}
        >
          {aliases.map((alias) => (
            <option key={alias} value={alias}>
              {alias}
            </option>
          ))}
        </SelectInput>
      )}
    </Field>
  );
}
