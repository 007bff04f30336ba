import { useQuery } from '@tanstack/react-query';
import { categoriesQuery } from '../../../api/detection-parts.ts';
import { texts } from '../../../texts/editor.ts';
import { Field, SelectInput, TextInput } from '../../../ui/forms/form.tsx';
import { useCategoryLabel } from '../../../ui/labels/category-label.tsx';
import { Section } from '../../../ui/section.tsx';
import { AboutFields } from './about-fields.tsx';
import { AcceptanceFields } from './acceptance-fields.tsx';
import { ConnectionField, useConnection } from './connection-field.tsx';
import type { FormProps } from './draft.ts';
import { JudgeFields } from './judge-fields.tsx';
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
  const connection = useConnection(draft);
  const { data: categories } = useQuery(categoriesQuery);
  const labelOf = useCategoryLabel();
  const { fields, hints } = texts;
  return (
    <Section isForm level={2} title={texts.sections.what}>
      <Field label={fields.name} error={problemOf('name')}>
        {(control) => (
          <TextInput {...control} value={draft.name} onChange={(event) => onChange({ name: event.target.value })} />
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
        <ConnectionField {...{ draft, onChange, problemOf }} />
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
      <AboutFields {...{ draft, onChange, problemOf }} />
    </Section>
  );
}
