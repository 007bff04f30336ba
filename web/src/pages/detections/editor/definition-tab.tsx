import { changeDetection, type Detection } from '../../../api/detections.ts';
import { EditedDefinition } from './edited-definition.tsx';
import { EditorLayout } from './editor-layout.tsx';

/** Edits the definition of a detection. Only what changed is sent. */
export default function DefinitionTab({ detection }: { detection: Detection }) {
  return (
    <EditedDefinition
      stored={detection}
      refresh={['detections']}
      save={changeDetection}
      renderForm={({ isChanged, ...form }) => (
        <EditorLayout {...form} storedId={isChanged ? undefined : detection.id} />
      )}
    />
  );
}
