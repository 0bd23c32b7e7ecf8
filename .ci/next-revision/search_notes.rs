    fn search_notes(
        &self,
        _: &mut Admitted<'_>,
        params: Box<trueform_schema::SearchNotesRequestParams>,
    ) -> Option<Answered<methods::SearchNotes>> {
        let notes = vec![params.topic.unwrap_or_else(|| "all".to_owned())];
        let result = trueform_schema::SearchNotesResult::new(notes);
        Some(Answered::Result(Ok(result)))
    }

