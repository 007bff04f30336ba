import { useQuery } from '@tanstack/react-query';
import type { Connection } from '../../../api/connections.ts';
import { categoriesQuery, connectionsQuery, modelsQuery } from '../../../api/detection-parts.ts';
import { texts } from '../../../texts/editor.ts';
import { Field, SelectInput, TextArea, TextInput } from '../../../ui/forms/form.tsx';
import { useCategoryLabel } from '../../../ui/labels/category-label.tsx';
import { SkillPicker, ToolPicker } from '../../../ui/forms/name-pickers.tsx';
import { Section } from '../../../ui/section.tsx';
import { AcceptanceFields } from './acceptance-fields.tsx';
import type { Draft, FormProps } from './draft.ts';
import { LimitFields } from './limit-fields.tsx';
import { QueryField } from './query-field.tsx';
import { ScheduleFields } from './schedule-fields.tsx';
import { keepUsed } from './tuning.ts';
import { TuningFields } from './tuning-fields.tsx';

/** The fields of a definition. */
export function DefinitionForm({ onPreview, ...form }: FormProps & { onPreview: () => void }) {
  return (
    <>
      <WhatFields {...form} onPreview={onPreview} />
      <JudgeFields {...form} />
      <AcceptanceFields {...form} />
      <ScheduleFields {...form} />
      <TuningFields {...form} />
      <LimitFields {...form} />
    </>
  );
}

function WhatFields({ draft, onChange, problemOf, onPreview }: FormProps & { onPreview: () => void }) {
  const { data: connections } = useQuery(connectionsQuery);
  const connection = connections && findConnection(draft, connections);
  const { data: categories } = useQuery(categoriesQuery);
  const labelOf = useCategoryLabel();
  const { fields, hints } = texts;
  return (
    <Section isForm level={2} title={texts.sections.what}>
      <Field label={fields.name} error={problemOf('name')}>
        {(control) => (
          <TextInput
            {...control}
            value={draft.name}
            maxLength={255}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-4 md:grid-cols-2">
        <Field
          label={fields.detectionCategory}
          hint={categories?.find(({ name }) => name === draft.detectionCategory)?.description}
          error={problemOf('detectionCategory')}
        >
          {(control) => (
            <SelectInput
              {...control}
              value={draft.detectionCategory}
              onChange={({ target }) => {
                const category = categories?.find(({ name }) => name === target.value);
                // The parts of the tuning that the new category does not use are left out.
                if (category) onChange({ detectionCategory: category.name, tuning: keepUsed(draft.tuning, category) });
              }}
            >
              {(categories?.map(({ name }) => name) ?? [draft.detectionCategory]).map((name) => (
                <option key={name} value={name}>
                  {labelOf(name)}
                </option>
              ))}
            </SelectInput>
          )}
        </Field>
        <Field label={fields.connectionId} error={problemOf('connectionId')}>
          {(control) => (
            <SelectInput
              {...control}
              value={connection?.id ?? ''}
              onChange={(event) => onChange({ connectionId: event.target.value })}
            >
              {connections?.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectInput>
          )}
        </Field>
      </div>
      <QueryField {...{ connection, draft, onChange, problemOf, onPreview }} />
      <div className="grid gap-4 md:grid-cols-2">
        {(['entityField', 'timeField'] as const).map((name) => (
          <Field key={name} label={fields[name]} hint={hints[name]} error={problemOf(name)}>
            {(control) => (
              <TextInput
                {...control}
                className="font-mono text-12"
                value={draft[name]}
                onChange={(event) => onChange({ [name]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </div>
      <Field label={fields.description} error={problemOf('description')}>
        {(control) => (
          <TextArea
            {...control}
            className="min-h-8"
            value={draft.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        )}
      </Field>
      <Field label={fields.tags} hint={texts.hints.tags} error={problemOf('tags')}>
        {(control) => (
          <TextInput {...control} value={draft.tags} onChange={(event) => onChange({ tags: event.target.value })} />
        )}
      </Field>
    </Section>
  );
}

/** Returns the connection that the detection names, else the only one of its kind of SIEM, else the embedded store. */
function findConnection(draft: Draft, connections: readonly Connection[]): Connection | undefined {
  const kind = draft.siemType?.toLowerCase() ?? 'local';
  const ofKind = connections.filter((one) => one.kind === kind);
  const named = connections.find(({ id }) => id === draft.connectionId);
  return named ?? (ofKind.length === 1 ? ofKind[0] : undefined);
}

function JudgeFields({ draft, onChange, problemOf }: FormProps) {
  const { data: models } = useQuery(modelsQuery);
  const { fields, hints } = texts;
  const aliases = [...new Set([...(models?.map(({ alias }) => alias) ?? []), draft.modelAlias])].filter(Boolean);
  return (
    <Section isForm level={2} title={texts.sections.judge}>
      <Field label={fields.systemPrompt} hint={hints.systemPrompt} error={problemOf('systemPrompt')}>
        {(control) => (
          <TextArea
            {...control}
            value={draft.systemPrompt}
            onChange={(event) => onChange({ systemPrompt: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-4 md:grid-cols-2">
        <Field label={fields.headline} hint={hints.headline} error={problemOf('headline')}>
          {(control) => (
            <TextInput
              {...control}
              value={draft.headline}
              onChange={(event) => onChange({ headline: event.target.value })}
            />
          )}
        </Field>
        <Field label={fields.modelAlias} error={problemOf('modelAlias')}>
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
    </Section>
  );
}
