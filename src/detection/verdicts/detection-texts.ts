/** The texts of a detection's author that verdicts use. `headline` is a template. `customInstructions` come from the request of a run. */
export type DetectionTexts = {
  name: string;
  description: string;
  systemPrompt: string;
  headline?: string | null;
  customInstructions?: string | null;
  contextDocs?: readonly { content?: string | undefined }[];
};
