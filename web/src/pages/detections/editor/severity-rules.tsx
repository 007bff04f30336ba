import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { valueListsQuery } from '../../../api/detection-parts.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Field, SelectInput, TextInput } from '../../../ui/forms/form.tsx';
import type { FormProps } from './draft.ts';
import type { Tuning } from './tuning.ts';

const texts = editor.tuning.rules;
type Rule = NonNullable<Tuning['severityRules']>[number];
type Effect = Rule['severity'];
const effects = Object.entries(texts.effects) as [Effect, string][];

/** Rules that set the severity by a value of the rows or by a value list. The first one that matches applies. */
export function SeverityRules({ draft: { tuning }, onChange, problemOf }: FormProps) {
  const rules = tuning.severityRules ?? [];
  const set = (next: Rule[]): void =>
    onChange({ tuning: { ...tuning, severityRules: next.length === 0 ? undefined : next } });
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-12 text-muted">{texts.title}</legend>
      <p className="max-w-[72ch] text-12 text-muted">{texts.hint}</p>
      {rules.map((rule, index) => (
        <RuleRow
          key={index}
          rule={rule}
          label={texts.one(index + 1)}
          onChange={(changed) => set(rules.map((other, at) => (at === index ? changed : other)))}
          onRemove={() => set(rules.filter((_, at) => at !== index))}
        />
      ))}
      {problemOf('severityRules') && <p className="text-12 text-bad">{problemOf('severityRules')}</p>}
      <Button className="self-start" onClick={() => set([...rules, { field: '', value: '', severity: 'raise' }])}>
        {texts.add}
      </Button>
    </fieldset>
  );
}

type RowProps = { rule: Rule; label: string; onChange: (rule: Rule) => void; onRemove: () => void };

function RuleRow({ rule: { value, list, ...rule }, label, onChange, onRemove }: RowProps) {
  const { data: lists = [] } = useQuery(valueListsQuery);
  const names = [...new Set([...lists.map(({ name }) => name), ...(list === undefined ? [] : [list])])];
  return (
    <fieldset className="grid grid-cols-[minmax(0,1fr)_auto] items-end gap-2">
      <legend className="sr-only">{label}</legend>
      <div className="grid min-w-0 gap-2 md:grid-cols-[minmax(0,1fr)_8rem_minmax(0,1fr)_9rem]">
        <Field label={texts.field}>
          {(control) => (
            <TextInput
              {...control}
              className="font-mono text-12"
              value={rule.field}
              onChange={({ target }) => onChange({ ...rule, value, list, field: target.value })}
            />
          )}
        </Field>
        <Field label={texts.test}>
          {(control) => (
            <SelectInput
              {...control}
              value={list === undefined ? 'value' : 'list'}
              onChange={({ target }) =>
                onChange(target.value === 'list' ? { ...rule, list: names[0] ?? '' } : { ...rule, value: '' })
              }
            >
              <option value="value">{texts.isValue}</option>
              <option value="list">{texts.inList}</option>
            </SelectInput>
          )}
        </Field>
        <Field label={list === undefined ? texts.value : texts.list}>
          {(control) =>
            list === undefined ? (
              <TextInput
                {...control}
                className="font-mono text-12"
                value={value ?? ''}
                onChange={({ target }) => onChange({ ...rule, value: target.value })}
              />
            ) : (
              <SelectInput
                {...control}
                value={list}
                onChange={({ target }) => onChange({ ...rule, list: target.value })}
              >
                {names.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </SelectInput>
            )
          }
        </Field>
        <Field label={texts.effect}>
          {(control) => (
            <SelectInput
              {...control}
              value={rule.severity}
              onChange={({ target }) => onChange({ ...rule, value, list, severity: target.value as Effect })}
            >
              {effects.map(([effect, text]) => (
                <option key={effect} value={effect}>
                  {text}
                </option>
              ))}
            </SelectInput>
          )}
        </Field>
      </div>
      <IconButton label={`${common.remove} ${label}`} onClick={onRemove}>
        <X className="size-4" aria-hidden />
      </IconButton>
    </fieldset>
  );
}
