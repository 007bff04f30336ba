import { texts as editor } from '../../../texts/editor.ts';
import { Field, TextInput } from '../../../ui/forms/form.tsx';
import { Section } from '../../../ui/section.tsx';
import { AboutFields } from '../editor/about-fields.tsx';
import { AcceptanceFields } from '../editor/acceptance-fields.tsx';
import { ConnectionField } from '../editor/connection-field.tsx';
import type { FormProps } from '../editor/draft.ts';
import { JudgeFields } from '../editor/judge-fields.tsx';
import { LimitFields } from '../editor/limit-fields.tsx';
import { ScheduleFields } from '../editor/schedule-fields.tsx';

/** The definition of a response agent, and below it what can be done with it. */
export function AgentForm({ footer, ...given }: FormProps & { footer: React.ReactNode }) {
  const form: FormProps = { ...given, isAgent: true };
  const { draft, onChange, problemOf } = form;
  return (
    <div className="flex min-h-full max-w-[60rem] flex-col">
      <div className="flex grow flex-col gap-8 px-4 py-5">
        <Section isForm level={2} title={editor.sections.about}>
          <div className="grid gap-4 md:grid-cols-2">
            <Field label={editor.fields.name} error={problemOf('name')}>
              {(control) => (
                <TextInput
                  {...control}
                  value={draft.name}
                  onChange={({ target }) => onChange({ name: target.value })}
                />
              )}
            </Field>
            <ConnectionField {...form} />
          </div>
          <AboutFields {...form} />
        </Section>
        <JudgeFields {...form} />
        <AcceptanceFields {...form} />
        <ScheduleFields {...form} />
        <LimitFields {...form} />
      </div>
      <div className="sticky bottom-0 flex flex-wrap items-center gap-2 border-t bg-surface px-4 py-2.5">{footer}</div>
    </div>
  );
}
