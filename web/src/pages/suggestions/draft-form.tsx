import type { Suggestion, SuggestionChange } from '../../api/suggestions.ts';
import { texts } from '../../texts/suggestions.ts';
import { CodeEditor } from '../../ui/code/code-editor.tsx';
import { SelectField, TextArea, TextField } from '../../ui/forms/field.tsx';

type Props = {
  suggestion: Suggestion;
  /** The fields that differ from the suggestion. */
  change: SuggestionChange;
  isReadOnly: boolean;
  onChange: (change: SuggestionChange) => void;
};

type Cadence = NonNullable<Suggestion['detectionCadence']>;

/** The detection that the suggestion would become. Each field can be changed before it is accepted. */
export function DraftForm({ suggestion, change, isReadOnly, onChange }: Props) {
  const { name, detectionCadence, customCronSchedule, detectionQuery, activeSystemPrompt } = suggestion;
  const set = <Field extends keyof SuggestionChange>(
    field: Field,
    value: SuggestionChange[Field],
    suggested: unknown,
  ): void => {
    const { [field]: _, ...rest } = change;
    onChange(value === suggested ? rest : { ...rest, [field]: value });
  };
  const query = change.detectionQuery ?? detectionQuery ?? '';
  const prompt = change.systemPrompt ?? activeSystemPrompt.prompt;
  const cadence = change.detectionCadence ?? detectionCadence;
  return (
    <section className="flex flex-col gap-3">
      <h3 className="text-12 font-strong text-muted">{texts.query}</h3>
      <div className="flex flex-col gap-1">
        <span className="text-12 text-muted">{texts.sql}</span>
        <CodeEditor
          label={texts.sql}
          language="sql"
          value={query}
          {...(!isReadOnly && { onChange: (text: string) => set('detectionQuery', text, detectionQuery) })}
        />
      </div>
      <div className="grid gap-3 md:grid-cols-[1fr_10rem]">
        <TextField
          label={texts.name}
          value={change.name ?? name}
          readOnly={isReadOnly}
          maxLength={255}
          onChange={(event) => set('name', event.target.value, name)}
        />
        <SelectField
          label={texts.schedule}
          value={cadence ?? ''}
          disabled={isReadOnly}
          options={[
            ...(detectionCadence === null ? [{ value: '', label: customCronSchedule ?? texts.custom }] : []),
            ...Object.entries(texts.schedules).map(([value, label]) => ({ value, label })),
          ]}
          onChange={(event) =>
            set('detectionCadence', (event.target.value || null) as Cadence | null, detectionCadence)
          }
        />
      </div>
      <details>
        <summary className="w-fit text-muted hover:text-ink">{texts.prompt}</summary>
        <div className="pt-2">
          <TextArea
            label={texts.prompt}
            value={prompt}
            readOnly={isReadOnly}
            rows={6}
            onChange={(event) => set('systemPrompt', event.target.value, activeSystemPrompt.prompt)}
          />
        </div>
      </details>
    </section>
  );
}
